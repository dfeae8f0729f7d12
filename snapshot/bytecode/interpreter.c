/* What the interpreter has in registers, and the words of its stacks. */
#include "snapshot/bytecode/interpreter.h"

#include "snapshot/bytecode/process.h"
#include "snapshot/bytecode/variables.h"
#include "snapshot/runtime/reader.h"

enum {
	MOST_C_FRAMES = 512,
	C_FRAME_WORDS = 16,
	TOP_WORDS = 4,
	TOP_PUSHED = 3,
	MOST_OPERAND_BYTES = 8
};

/* Which function is the interpreter: its name up to 5.1, and from 5.2 on. */
static struct snap_range interpreter_code(struct snap_runtime *runtime)
{
	struct snap_symbol symbol;
	if (!snap_image_symbol(runtime->image, "caml_bytecode_interpreter", &symbol) &&
		!snap_image_symbol(runtime->image, "caml_interprete", &symbol))
		return (struct snap_range){0};
	return (struct snap_range){symbol.address, symbol.address + symbol.size};
}

static void find_interpreter(struct snap_runtime *runtime, const struct snap_range *code,
	const struct snap_thread *thread, struct snap_innermost *inner)
{
	struct snap_frame frame, caller;
	snap_frame_of_thread(runtime->image, thread, &inner->stopped);
	frame = inner->stopped;
	for (unsigned n = 0; n < MOST_C_FRAMES; n++) {
		uint64_t pc = snap_frame_pc(&frame);
		bool found = pc - code->start < code->end - code->start;
		if (!found)
			snap_look_at_function(runtime, pc);
		/* The step also tells where the frame ends. */
		bool goes_on = snap_spend(runtime, C_FRAME_WORDS) &&
			       snap_frame_caller(runtime->image, &frame, &caller) == SNAP_CALLER;
		if (found) {
			inner->has_ocaml = true;
			inner->c_frames = n;
			inner->frame = frame;
			inner->words_start = snap_frame_sp(&frame);
			inner->words_end = frame.has_cfa ? frame.cfa : inner->words_start;
			return;
		}
		if (!goes_on)
			return;
		frame = caller;
	}
}

enum hg_status snap_find_interpreters(struct snap_runtime *runtime, struct hg_error *error)
{
	void *frames;
	const struct snap_range code = interpreter_code(runtime);
	BASE_TRY(base_pool_alloc(&runtime->pool, runtime->image->thread_count,
		sizeof(struct snap_innermost), &frames, error));
	runtime->innermost = frames;
	for (uint64_t i = 0; i < runtime->image->thread_count; i++)
		find_interpreter(
			runtime, &code, &runtime->image->threads[i], &runtime->innermost[i]);
	return HG_OK;
}

/* A register of the interpreter; 0 if it is not known. */
static uint64_t interpreter_register(const struct snap_innermost *inner, unsigned number)
{
	return snap_frame_knows(&inner->frame, number) ? inner->frame.registers[number] : 0;
}

/*
 * During a C call the stack pointer is saved, and the compiler may use its register for the address
 * of the domain's state.
 */
static bool is_in_call(const struct snap_runtime *runtime, const struct snap_innermost *inner,
	uint64_t pointer, const struct snap_range *words)
{
	const struct snap_layout *l = runtime->layout;
	if (!runtime->is_5 || inner->c_frames == 0)
		return false;
	for (uint32_t d = 0; d < runtime->domain_count; d++)
		if (runtime->domains[d].state == pointer)
			return words->start ==
			       snap_word(runtime, pointer + l->caml_domain_state_current_stack);
	return false;
}

/* The thread that interprets on a stack, of which *sp then is the pointer; NULL if none does. */
static const struct snap_innermost *find_thread(
	const struct snap_runtime *runtime, const struct snap_range *words, uint64_t *sp)
{
	for (uint64_t i = 0; i < runtime->image->thread_count; i++) {
		const struct snap_innermost *inner = &runtime->innermost[i];
		if (!inner->has_ocaml)
			continue;
		uint64_t pointer = interpreter_register(inner, inner->frame.arch->interpreter_sp);
		bool is_inside =
			pointer % 8 == 0 && pointer > words->start && pointer <= words->end;
		if (is_inside)
			*sp = pointer;
		if (is_inside || is_in_call(runtime, inner, pointer, words))
			return inner;
	}
	return NULL;
}

/* Names */

static const char *name_place(struct snap_runtime *runtime, const struct snap_stack_walk *walk,
	const struct snap_code_location *at, uint64_t code)
{
	if (!at)
		return snap_print(
			runtime, "bytecode 0x%llx%s", (unsigned long long)code, walk->suffix);
	if (!at->file[0])
		return snap_print(runtime, "%s%s", at->function, walk->suffix);
	return snap_print(runtime, "%s %s:%u:%u-%u%s", at->function, at->file, at->line, at->start,
		at->end, walk->suffix);
}

static const char *name_return(
	struct snap_runtime *runtime, const struct snap_stack_walk *walk, uint64_t code)
{
	struct snap_code_location at;
	if (snap_is_bytecode_glue(runtime, code))
		return snap_print(runtime, "callback from C%s", walk->suffix);
	return name_place(runtime, walk, snap_bytecode_call(runtime, code, &at) ? &at : NULL, code);
}

/* Where the innermost function is: at its next instruction, or at one that it has pushed. */
static const char *name_top(struct snap_runtime *runtime, const struct snap_stack_walk *walk,
	const struct snap_innermost *inner, uint64_t sp)
{
	struct snap_code_location at;
	uint64_t pc = inner ? interpreter_register(inner, inner->frame.arch->interpreter_pc) : 0;
	for (unsigned i = 0; i < TOP_WORDS && !snap_is_bytecode(runtime, pc); i++)
		pc = snap_word(runtime, sp + 8 * (uint64_t)i);
	if (!snap_is_bytecode(runtime, pc))
		return snap_print(runtime, "stack of bytecode%s", walk->suffix);
	return name_place(runtime, walk, snap_bytecode_near(runtime, pc, &at) ? &at : NULL, pc);
}

/* Slots */

/* Three words: code, environment, number of arguments; a trap frame has a number second. */
static bool is_return(const struct snap_runtime *runtime, uint64_t slot, uint64_t end)
{
	if (end - slot < 24)
		return false;
	uint64_t environment = snap_word(runtime, slot + 8),
		 arguments = snap_word(runtime, slot + 16);
	bool is_trap = environment & 1 && !(arguments & 1);
	return !is_trap && arguments & 1;
}

/*
 * The slot after what a C call (environment, code), a collection (accumulator, environment, code)
 * or an effect (distance, code) has pushed for the function that runs; 'sp' if nothing was.  A
 * thread that interprets may have pushed nothing: then the first code there is no next instruction
 * of it.
 */
static uint64_t end_of_pushed(
	const struct snap_runtime *runtime, const struct snap_innermost *inner, uint64_t sp)
{
	uint64_t pc = inner ? interpreter_register(inner, inner->frame.arch->interpreter_pc) : 0;
	for (uint64_t at = sp; at < sp + 8 * TOP_PUSHED; at += 8) {
		uint64_t word = snap_word(runtime, at);
		if (snap_is_bytecode(runtime, word))
			return at > sp && (!inner || word - pc <= MOST_OPERAND_BYTES) ? at + 8 : sp;
	}
	return sp;
}

static enum hg_status walk_words(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t sp, uint64_t end, uint64_t pushed, const char *name, struct hg_error *error)
{
	struct snap_code_location place;
	uint64_t index = 0, code = pushed > sp ? snap_word(runtime, pushed - 8) : 0;
	bool is_called_back = false;
	walk->frames++;
	for (uint64_t at = sp; at + 8 <= end; at += 8, index++) {
		uint64_t word = snap_word(runtime, at);
		if (!snap_spend(runtime, 1))
			return HG_OK;
		if (!snap_is_bytecode(runtime, word)) {
			BASE_TRY(snap_add_stack_value(runtime, walk, at, index, name, error));
			continue;
		}
		/* What was interpreted before a callback pushed its environment and code. */
		if (is_called_back && !snap_is_bytecode_glue(runtime, word))
			name = name_place(runtime, walk,
				snap_bytecode_near(runtime, word, &place) ? &place : NULL, word);
		else if (at < pushed || !is_return(runtime, at, end))
			continue;
		else
			name = name_return(runtime, walk, word);
		is_called_back = snap_is_bytecode_glue(runtime, word);
		code = word;
		walk->frames++;
		index = 0;
	}
	return snap_add_frame_units(runtime, code, end, error);
}

/* What the interpreter has in registers and in its frame: the accumulator, the environment. */
static enum hg_status add_interpreter(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	const struct snap_innermost *inner, const char *name, struct hg_error *error)
{
	const struct snap_arch *arch = inner->frame.arch;
	uint64_t value;
	for (unsigned r = 0; r < arch->general_count; r++)
		if (r != arch->sp && snap_frame_knows(&inner->frame, r))
			BASE_TRY(snap_add_stack_word(
				runtime, walk, inner->frame.registers[r], HG_UNKNOWN, name, error));
	for (uint64_t at = inner->words_start; at < inner->words_end; at += 8) {
		if (!snap_spend(runtime, 1) || !snap_image_u64(runtime->image, at, &value))
			break;
		BASE_TRY(snap_add_stack_word(runtime, walk, value, at, name, error));
	}
	return HG_OK;
}

/* Nobody knows how far the stack reaches: any of its words that leads to a block may be live. */
static enum hg_status add_rest(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t start, uint64_t sp, const char *name, struct hg_error *error)
{
	uint64_t value, kept = 0;
	for (uint64_t at = sp; at > start && snap_spend(runtime, 1); at -= 8) {
		if (!snap_image_u64(runtime->image, at - 8, &value))
			break;
		uint64_t before = walk->roots->count;
		BASE_TRY(snap_add_stack_word(runtime, walk, value, at - 8, name, error));
		kept += walk->roots->count - before;
	}
	if (kept)
		snap_note_line(runtime,
			"the stack pointer of a running thread is not known: %llu "
			"of its roots may be stale",
			(unsigned long long)kept);
	return HG_OK;
}

enum hg_status snap_walk_bytecode(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	struct snap_range words, uint64_t sp, bool *complete, struct hg_error *error)
{
	const struct snap_innermost *inner = find_thread(runtime, &words, &sp);
	*complete = false;
	if (sp % 8 || words.end % 8 || sp < words.start || sp > words.end ||
		snap_image_present(runtime->image, sp, words.end - sp) < words.end - sp) {
		snap_note_line(runtime, "the stack at 0x%llx is damaged", (unsigned long long)sp);
		return HG_OK;
	}
	const char *name = name_top(runtime, walk, inner, sp);
	if (inner)
		BASE_TRY(add_interpreter(runtime, walk, inner, name, error));
	else if (walk->is_current)
		BASE_TRY(add_rest(runtime, walk, words.start, sp, name, error));
	*complete = true;
	return walk_words(
		runtime, walk, sp, words.end, end_of_pushed(runtime, inner, sp), name, error);
}
