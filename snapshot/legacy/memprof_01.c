/* OCamlmemprof 0.1 (2013, bytecode): heap.dump.PID.N, with ids from PROGRAM.prof. */
#include "snapshot/file_names.h"
#include "snapshot/legacy/location_files.h"
#include "snapshot/legacy/location_source.h"
#include "snapshot/legacy/memprof.h"

static bool recognise_01(const char *name, const struct base_file *file)
{
	struct snap_name parts = snap_name_split(name);
	if (!snap_records_recognise(file))
		return false;
	/* The bytes are those of 0.2, whose files have names of their own. */
	return !(snap_name_part_is(&parts, 0, "memprof") &&
		 snap_name_part_is(&parts, parts.count - 1, "dump"));
}

static enum hg_status load_01(
	struct snap *snap, const struct hg_input *input, struct hg_error *error)
{
	(void)input;
	struct snap_name name = snap_name_split(snap->path);
	if (snap_name_part_is(&name, 0, "heap") && snap_name_part_is(&name, 1, "dump")) {
		snap_name_part_number(&name, 2, &snap->pid);
		snap_name_part_number(&name, 3, &snap->index);
	}
	snap->ocaml_version = "4.00.1+memprof";
	return snap_records_load(snap, error);
}

const struct snap_format snap_memprof01 = {
	.name = "memprof01",
	.title = "OCamlmemprof 0.1 heap dump",
	.recognise = recognise_01,
	.load = load_01,
	.next_run = snap_records_next_run,
	.ids = SNAP_IDS_MEMPROF01,
	.load_locations = snap_load_location_file,
	.is_location_source = snap_source_begins,
};
