/* OCamlmemprof 0.2 (2013): memprof.PID[.NAME].N.dump, with ids from memprof.PID.locations. */
#include "snapshot/file_names.h"
#include "snapshot/legacy/location_files.h"
#include "snapshot/legacy/location_source.h"
#include "snapshot/legacy/memprof.h"

static bool recognise_02(const char *name, const struct base_file *file)
{
	struct snap_name parts = snap_name_split(name);
	return snap_records_recognise(file) && snap_name_part_is(&parts, 0, "memprof") &&
	       snap_name_part_is(&parts, parts.count - 1, "dump");
}

/* memprof . PID [. NAME] . N . dump; the name may hold dots itself. */
static enum hg_status read_name_02(struct snap *snap, struct hg_error *error)
{
	struct snap_name name = snap_name_split(snap->path);
	if (name.count < 4 || !snap_name_part_is(&name, 0, "memprof"))
		return HG_OK;
	snap_name_part_number(&name, 1, &snap->pid);
	unsigned number = name.count - 2;
	snap_name_part_number(&name, number, &snap->index);
	if (number == 2)
		return HG_OK;
	const char *start = name.parts[2], *end = name.parts[number] - 1;
	return base_pool_string(&snap->pool, start, (uint64_t)(end - start), &snap->trigger, error);
}

static enum hg_status load_02(
	struct snap *snap, const struct hg_input *input, struct hg_error *error)
{
	(void)input;
	BASE_TRY(read_name_02(snap, error));
	snap->ocaml_version = "4.00.1+typed_heap";
	return snap_records_load(snap, error);
}

const struct snap_format snap_memprof02 = {
	.name = "memprof02",
	.title = "OCamlmemprof 0.2 heap dump",
	.recognise = recognise_02,
	.load = load_02,
	.next_run = snap_records_next_run,
	.ids = SNAP_IDS_MEMPROF02,
	.load_locations = snap_load_location_file,
	.is_location_source = snap_source_begins,
};
