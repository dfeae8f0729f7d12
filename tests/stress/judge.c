/* Says what became of a target. */
#include "tests/stress/stress.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { NAP_US = 2000 };

/* How a target is at one moment. */
struct view {
	bool stopped, stands;
	const struct stress_thread *other_mask; /* a thread that has one, and which */
	uint64_t blocked;
	struct stress_copies copies;
};

/*
 * Threads change their masks themselves, too (OCaml 4 blocks a signal while it handles it, and
 * while the handler yields), so that it is enough if each has its own again at some moment.
 */
static void look(struct stress_target *target, const uint64_t *before, struct view *view)
{
	const struct watched *record = target->record;
	*view = (struct view){0};
	for (size_t i = 0; i < record->slots; i++)
		if (record->rounds[i] == before[i])
			view->stands = true;
	for (size_t i = 0; i < target->thread_count; i++) {
		struct stress_thread *thread = &target->threads[i];
		struct stress_status status = stress_read_status(target->process, thread->id);
		if (status.state == 0 || strchr("TtZX", status.state) || status.tracer != 0)
			view->stopped = true;
		thread->is_back = thread->is_back || status.blocked == thread->blocked;
		if (!thread->is_back) {
			view->other_mask = thread;
			view->blocked = status.blocked;
		}
	}
	/* The most work, so only when the rest is as it should be. */
	if (!view->stands && !view->stopped && !view->other_mask)
		view->copies = stress_find_copies(target->process, false);
}

static bool is_fine(const struct view *view)
{
	return !view->stands && !view->stopped && !view->other_mask && view->copies.live == 0;
}

static bool replace(struct stress_target *target)
{
	stress_kill(target);
	stress_start(target);
	return false;
}

static bool judge_dead(struct stress_target *target, pid_t process, struct stress_row *row)
{
	int status = target->exit_status;
	fprintf(stderr, "    %s: died, %s %d\n", target->name,
		WIFSIGNALED(status) ? "signal" : "exit status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	row->killed++;
	/* Those that die with their tracer are given time to. */
	for (int i = 0; i < 500 && stress_find_copies(process, false).live > 0; i++)
		stress_nap(NAP_US);
	row->copies += stress_find_copies(process, true).live;
	return replace(target);
}

/* What the target itself has noticed.  It goes on with it, so that it is replaced. */
static bool notices(const struct stress_target *target, struct stress_row *row)
{
	const struct watched *record = target->record;
	row->torn += record->torn != 0;
	row->interrupted += record->interrupted != 0;
	row->mask += record->mask_changed != 0;
	row->stack += record->stack_changed != 0;
	return record->torn || record->interrupted || record->mask_changed || record->stack_changed;
}

static bool judge_unwell(
	struct stress_target *target, const uint64_t *before, struct stress_row *row)
{
	struct view view;
	look(target, before, &view);
	view.copies = stress_find_copies(target->process, false);
	row->stuck += view.stands || view.stopped;
	row->mask += view.other_mask != NULL && target->record->mask_changed == 0;
	row->copies += view.copies.live;
	notices(target, row);
	fprintf(stderr, "    %s:%s%s %u live copies\n", target->name, view.stands ? " stands," : "",
		view.stopped ? " stopped or traced," : "", view.copies.live);
	if (view.other_mask)
		fprintf(stderr, "    %s: thread %d of process %d blocks %llx, not %llx\n",
			target->name, (int)view.other_mask->id, (int)target->process,
			(unsigned long long)view.blocked,
			(unsigned long long)view.other_mask->blocked);
	return replace(target);
}

bool stress_judge(struct stress_target *target, struct stress_row *row)
{
	uint64_t before[WATCHED_SLOTS];
	struct view view;
	pid_t process = target->process;
	uint64_t until = stress_microseconds() + UINT64_C(1000) * stress_setting.patience_ms;
	for (size_t i = 0; i < WATCHED_SLOTS; i++)
		before[i] = target->record->rounds[i];
	for (size_t i = 0; i < target->thread_count; i++)
		target->threads[i].is_back = false;
	for (;;) {
		if (stress_has_ended(target))
			return judge_dead(target, process, row);
		stress_release_forks(target);
		look(target, before, &view);
		if (is_fine(&view))
			break;
		if (stress_microseconds() > until)
			return judge_unwell(target, before, row);
		stress_nap(NAP_US);
		stress_reap_strangers(process, 0);
	}
	if (view.copies.zombies > target->zombies)
		row->zombies += view.copies.zombies - target->zombies;
	target->zombies = view.copies.zombies;
	return notices(target, row) ? replace(target) : true;
}

/* Whoever looked after the target for a capturer that was killed has ended, too. */
static bool is_watched_on(pid_t target)
{
	uint64_t until = stress_microseconds() + UINT64_C(1000) * stress_setting.patience_ms;
	while (stress_find_copies(target, false).capturers > 0) {
		if (stress_microseconds() > until)
			return true;
		stress_nap(NAP_US);
		stress_reap_strangers(target, 0);
	}
	return false;
}

void stress_conclude(struct stress_target *target, struct stress_row *row)
{
	int status = 0;
	struct stress_row last = {0};
	/* Whatever the judge finds now belongs to the row as well. */
	pid_t capturer = stress_capture_begin(target);
	if (!stress_capture_end(target, capturer, &status) || status != 0)
		stress_refuse(target, "the last", status, row);
	stress_remove_captures();
	stress_judge(target, &last);
	if (is_watched_on(target->process))
		stress_refuse(target, "somebody still looks after it", status, row);
	row->killed += last.killed;
	row->torn += last.torn;
	row->interrupted += last.interrupted;
	row->mask += last.mask;
	row->stack += last.stack;
	row->stuck += last.stuck;
	row->copies += last.copies;
	row->unreaped += target->zombies;
	if (target->zombies > 0)
		stress_say_how_it_ended(target, "zombies stay", status);
	if (!stress_finish(target))
		row->output++;
}
