/* Where types come from, and what is said of them if they are missing or of another program. */
#include "retype/retype.h"

#include "base/assert.h"
#include "retype/infer/seeds/seeds.h"
#include "retype/legacy/cmt400.h"
#include "retype/profile/agree.h"
#include "retype/profile/distrust.h"
#include "retype/profile/hgprof.h"
#include "retype/profile/owners.h"
#include "retype/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum hg_status set_reason(struct retype *retype, const char *text, struct hg_error *error)
{
	return base_pool_string(&retype->types.pool, text, strlen(text), &retype->reason, error);
}

/* What is said of types that are missing or odd: how that begins, and why. */
static enum hg_status make_note(struct retype *retype, struct hg_error *error)
{
	static const char *const beginnings[] = {[HG_TYPES_ABSENT] = "none: ",
		[HG_TYPES_REFUSED] = "none: ",
		[HG_TYPES_STALE] = "stale: ",
		[HG_TYPES_FRESH] = ""};
	if (!retype->reason[0])
		return HG_OK;
	base_assert(retype->state != HG_TYPES_UNREAD);
	const char *beginning = beginnings[retype->state];
	size_t size = strlen(beginning) + strlen(retype->reason) + 1;
	void *text;
	BASE_TRY(base_pool_alloc(&retype->types.pool, size, 1, &text, error));
	snprintf(text, size, "%s%s", beginning, retype->reason);
	retype->note = text;
	return HG_OK;
}

/* What is read of the types so far is of no use. */
static enum hg_status forget_types(struct retype *retype, struct hg_error *error)
{
	retype_types_release(&retype->types);
	base_file_close(&retype->file);
	retype->file = (struct base_file){0};
	retype->has_types = false;
	retype->path = retype->reason = "";
	return retype_types_init(&retype->types, error);
}

/* The bytes of the profile, which must be of the program. */
static enum hg_status read_types(
	struct retype *retype, const struct snap *snap, struct hg_error *error)
{
	char reason[512];
	if (!retype_is_hgprof(retype->file.bytes, retype->file.size))
		return base_fail(error, HG_ERROR_INPUT, 0,
			"is no profile of types: those begin with 'hgprof 1'");
	BASE_TRY(retype_hgprof_read(&retype->types, retype->file.bytes, retype->file.size, error));
	BASE_TRY(retype_check_program(&retype->types, snap, reason, sizeof(reason), error));
	BASE_TRY(retype_distrust(&retype->types));
	retype->has_types = true;
	retype->state = *reason ? HG_TYPES_STALE : HG_TYPES_FRESH;
	return set_reason(retype, reason, error);
}

static enum hg_status open_named_profile(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error)
{
	const char *named = options->profile;
	BASE_TRY(retype_open_profile(snap, named, &retype->file, error));
	BASE_TRY(base_pool_string(&retype->types.pool, named, strlen(named), &retype->path, error));
	enum hg_status status = read_types(retype, snap, error);
	if (status != HG_OK)
		base_error_file(error, named);
	return status;
}

/* A file that nobody named must not keep the snapshot from being analysed. */
static enum hg_status open_found_profile(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error)
{
	(void)options;
	char text[sizeof(error->message) + 4200];
	struct hg_error trouble;
	BASE_TRY(retype_find_profile(snap, &retype->types.pool, &retype->file, &retype->path,
		&retype->state, &retype->reason, error));
	if (!retype->path[0])
		return HG_OK;
	base_error_clear(&trouble);
	enum hg_status status = read_types(retype, snap, &trouble);
	if (status == HG_OK)
		return HG_OK;
	if (status != HG_ERROR_INPUT) {
		*error = trouble;
		return status;
	}
	snprintf(text, sizeof(text), "%s %s", retype->path, trouble.message);
	BASE_TRY(forget_types(retype, error));
	retype->state = HG_TYPES_REFUSED;
	return set_reason(retype, text, error);
}

/* Of dumps of 4.00.1: what the compiler left beside the program. */
static enum hg_status open_typed_trees(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error)
{
	BASE_TRY(retype_cmt400_read(&retype->types, options->directories, options->directory_count,
		snap, &retype->path, error));
	retype->has_types = retype->types.location_count > 0;
	retype->state = retype->has_types ? HG_TYPES_FRESH : HG_TYPES_ABSENT;
	if (retype->has_types)
		return HG_OK;
	retype->path = "";
	return set_reason(retype,
		snap->locations.entries == 0
			? "no locations, which lead to types"
			: "no .cmt of the program beside the snapshot or below the current "
			  "folder; name theirs with -I",
		error);
}

static enum hg_status open_nothing(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error)
{
	(void)retype;
	(void)snap;
	(void)options;
	(void)error;
	return HG_OK;
}

/*
 * Who fills the type table: the first one that is for the snapshot.  Whatever else comes to know
 * types is a folder beside retype/profile and retype/legacy, and a row.
 */
static bool is_profile_named(const struct snap *snap, const struct retype_options *options)
{
	(void)snap;
	return options->profile != NULL;
}

static bool is_unneeded(const struct snap *snap, const struct retype_options *options)
{
	(void)snap;
	return options->unneeded && !options->required && options->directory_count == 0;
}

static bool is_of_400(const struct snap *snap, const struct retype_options *options)
{
	(void)options;
	return snap->format->ids == SNAP_IDS_MEMPROF01 || snap->format->ids == SNAP_IDS_MEMPROF02;
}

static bool is_any(const struct snap *snap, const struct retype_options *options)
{
	(void)snap;
	(void)options;
	return true;
}

static const struct producer {
	bool (*is_for)(const struct snap *snap, const struct retype_options *options);
	enum hg_status (*open)(struct retype *retype, struct snap *snap,
		const struct retype_options *options, struct hg_error *error);
} producers[] = {
	{is_profile_named, open_named_profile},
	{is_unneeded, open_nothing},
	{is_of_400, open_typed_trees},
	{is_any, open_found_profile},
};

static enum hg_status open_types(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error)
{
	BASE_TRY(base_arena_init(&retype->arena, &snap->session->budget, "types", error));
	BASE_TRY(retype_types_init(&retype->types, error));
	const struct producer *producer = producers;
	while (!producer->is_for(snap, options))
		producer++;
	BASE_TRY(producer->open(retype, snap, options, error));
	retype_find_owners(&retype->types, snap);
	BASE_TRY(make_note(retype, error));
	if (options->required && retype->state != HG_TYPES_FRESH) {
		if (retype->has_types)
			base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "has no reliable types: %s",
				retype->note);
		else
			base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "has no types: %s",
				retype->reason);
		base_error_file(error, snap->path);
		return HG_ERROR_INPUT;
	}
	return HG_OK;
}

/* Types of blocks that say what they are. */
static void name_tags(struct retype *retype)
{
	struct retype_types *types = &retype->types;
	retype->by_tag[SNAP_TAG_STRING] = retype_base(types, "string").n;
	retype->by_tag[SNAP_TAG_DOUBLE] = retype_base(types, "float").n;
	retype->by_tag[SNAP_TAG_DOUBLE_ARRAY] = retype_base(types, "floatarray").n;
	retype->by_tag[SNAP_TAG_CLOSURE] =
		retype_arrow(types, "", RETYPE_NOTHING, RETYPE_NOTHING).n;
}

enum hg_status retype_open(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error)
{
	*retype = (struct retype){.path = "", .reason = "", .note = ""};
	enum hg_status status = open_types(retype, snap, options, error);
	if (status == HG_OK) {
		name_tags(retype);
		status = retype->types.status;
	}
	if (status != HG_OK)
		retype_release(retype);
	return status;
}

void retype_release(struct retype *retype)
{
	retype_types_release(&retype->types);
	infer_value_blocks_release(&retype->value_blocks);
	free(retype->clashes);
	base_file_close(&retype->file);
	base_arena_release(&retype->arena);
	*retype = (struct retype){.path = "", .reason = "", .note = ""};
}

enum hg_status retype_run(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error)
{
	if (!retype->has_types)
		return HG_OK;
	const struct infer_input in = {.snap = snap,
		.types = &retype->types,
		.by_tag = retype->by_tag,
		.value_blocks = &retype->value_blocks,
		.without_samples = options->without_samples,
		.unreached = options->unreached,
		.reversed = options->reversed,
		.shuffled = options->shuffled};
	struct infer_result result = {0};
	enum hg_status status = infer_run(&in, &seeds_plan, &retype->arena, &result, error);
	retype->blocks = result.blocks;
	retype->clashes = result.clashes;
	retype->clash_count = result.clash_count;
	if (status == HG_OK)
		retype->counts = result.counts;
	return status;
}
