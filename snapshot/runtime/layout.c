#include "snapshot/runtime/layout.h"

#include <assert.h>

#define NA SNAP_ABSENT
#define FIELD(structure, member, v4_13, v4_14, v5_0, v5_1, v5_2, v5_3)                             \
	.structure##_##member = COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3),
#define SIZE(structure, v4_13, v4_14, v5_0, v5_1, v5_2, v5_3)                                      \
	.sizeof_##structure = COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3),
#define TRAIT(trait, v4_13, v4_14, v5_0, v5_1, v5_2, v5_3)                                         \
	.trait = COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3),

/* runtime/caml/sizeclasses.h of the versions */
static const uint8_t classes_5_0[SNAP_SIZE_CLASSES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16,
	18, 20, 23, 26, 29, 33, 37, 42, 47, 53, 59, 65, 73, 81, 89, 99, 108, 118, 128};
static const uint8_t classes_5_2[SNAP_SIZE_CLASSES] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 17,
	19, 22, 25, 28, 32, 33, 37, 42, 47, 53, 59, 65, 73, 81, 89, 99, 108, 118, 128};

static const struct snap_layout layouts[] = {
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3) v4_13
	[SNAP_OCAML_4_13] = {.version = SNAP_OCAML_4_13,
		.name = "4.13",
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3) v4_14
	[SNAP_OCAML_4_14] = {.version = SNAP_OCAML_4_14,
		.name = "4.14",
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3) v5_0
	[SNAP_OCAML_5_0] = {.version = SNAP_OCAML_5_0,
		.name = "5.0",
		.size_classes = classes_5_0,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3) v5_1
	[SNAP_OCAML_5_1] = {.version = SNAP_OCAML_5_1,
		.name = "5.1",
		.size_classes = classes_5_0,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3) v5_2
	[SNAP_OCAML_5_2] = {.version = SNAP_OCAML_5_2,
		.name = "5.2",
		.size_classes = classes_5_2,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3) v5_3
	[SNAP_OCAML_5_3] = {.version = SNAP_OCAML_5_3,
		.name = "5.3",
		.size_classes = classes_5_2,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
};
_Static_assert(sizeof(layouts) / sizeof(layouts[0]) == SNAP_OCAML_VERSIONS,
	"every version has its layout");

#undef FIELD
#undef SIZE
#undef TRAIT

const struct snap_layout *snap_layout(enum snap_ocaml_version version)
{
	assert((unsigned)version < SNAP_OCAML_VERSIONS);
	return &layouts[version];
}

uint32_t snap_layout_first_slot(const struct snap_layout *layout, uint32_t size_class)
{
	assert(layout->size_classes && size_class < SNAP_SIZE_CLASSES);
	uint32_t words = (uint32_t)(SNAP_POOL_BYTES - layout->sizeof_pool) / 8;
	uint32_t waste = words % layout->size_classes[size_class];
	return layout->sizeof_pool + (layout->pool_waste_first == 1 ? 8 * waste : 0);
}

/* Where a row is in struct snap_layout. */
struct row {
	const char *structure, *member;
	size_t offset;
};

#define FIELD(structure, member, ...)                                                              \
	{#structure, #member, offsetof(struct snap_layout, structure##_##member)},
#define SIZE(structure, ...) {#structure, NULL, offsetof(struct snap_layout, sizeof_##structure)},
#define TRAIT(trait, ...)

static const struct row rows[] = {SNAP_LAYOUT(FIELD, SIZE, TRAIT)};

bool snap_layout_row(const struct snap_layout *layout, size_t index, struct snap_layout_row *out)
{
	if (index >= sizeof(rows) / sizeof(rows[0]))
		return false;
	*out = (struct snap_layout_row){.structure = rows[index].structure,
		.member = rows[index].member,
		.value = *(const uint16_t *)((const char *)layout + rows[index].offset)};
	return true;
}
