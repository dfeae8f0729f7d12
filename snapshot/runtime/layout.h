/*
 * Where the fields of the OCaml runtime's structures are, for each version this program reads: one
 * row per field, one column per version.  To support another version is to add a column, and to
 * look at what the traits say.
 *
 * Offsets and sizes are bytes on x86-64 Linux with glibc, where pthread_mutex_t has 40 bytes;
 * snap_layout_with_mutex() makes those of others of them.  They were taken from the debug
 * information of each version's own objects.
 */
#ifndef SNAPSHOT_RUNTIME_LAYOUT_H
#define SNAPSHOT_RUNTIME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum snap_ocaml_version {
	SNAP_OCAML_4_13,
	SNAP_OCAML_4_14,
	SNAP_OCAML_5_0,
	SNAP_OCAML_5_1,
	SNAP_OCAML_5_2,
	SNAP_OCAML_5_3,
	SNAP_OCAML_5_4,
	SNAP_OCAML_5_5,
	SNAP_OCAML_VERSIONS
};

/* The version has no such field. */
#define SNAP_ABSENT UINT16_MAX

/* clang-format off */
/*
 * FIELD(structure, member, 4.13, 4.14, 5.0, 5.1, 5.2, 5.3, 5.4, 5.5): offset of a member.
 * SIZE(structure, ...): size of a structure, or of the head that precedes its data.
 * TRAIT(name, ...): what is no offset.
 */
#define SNAP_LAYOUT(FIELD, SIZE, TRAIT) \
	/* 4.x has one, at the address in Caml_state; 5.x one per domain. */ \
	FIELD(caml_domain_state, young_ptr,                8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(caml_domain_state, young_start,             32,  32,  16,  16,  16,  16,  16,  16) \
	FIELD(caml_domain_state, young_end,               40,  40,  24,  24,  24,  24,  24,  24) \
	FIELD(caml_domain_state, young_alloc_start,       48,  48,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, young_alloc_end,         56,  56,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, in_minor_collection,     88,  88,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, bottom_of_stack,        208, 208,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, last_return_address,    216, 216,  NA,  NA,  NA,  NA,  NA,  NA) \
	/* Of bytecode, which has a stack of its own; in 5.x it is that of the fiber. */ \
	FIELD(caml_domain_state, stack_low,              136, 136,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, stack_high,             144, 144,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, extern_sp,              160, 160,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, gc_regs,                224, 224,  80,  88,  88,  88,  88,  88) \
	FIELD(caml_domain_state, local_roots,            288, 288, 160, 152, 152, 160, 192, 192) \
	FIELD(caml_domain_state, backtrace_last_exn,     256, 256, 208, 200, 200, 208, 240, 240) \
	FIELD(caml_domain_state, stat_minor_words,       296, 296, 376, 376, 376, 384, 416, 424) \
	FIELD(caml_domain_state, stat_promoted_words,    304, 304, 384, 384, 384, 392, 424, 432) \
	FIELD(caml_domain_state, stat_major_words,       312, 312, 392, 392, 392, 400, 432, 440) \
	FIELD(caml_domain_state, stat_minor_collections, 320, 320, 400,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, stat_major_collections, 328, 328,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, stat_heap_wsz,          336, 336,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, stat_top_heap_wsz,      344, 344,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, stat_compactions,       352, 352,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, stat_heap_chunks,       368, 368,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_domain_state, current_stack,           NA,  NA,  32,  40,  40,  40,  40,  40) \
	FIELD(caml_domain_state, c_stack,                 NA,  NA,  56,  64,  64,  64,  64,  64) \
	FIELD(caml_domain_state, ephe_info,               NA,  NA, 168, 160, 160, 168, 200, 200) \
	FIELD(caml_domain_state, final_info,              NA,  NA, 176, 168, 168, 176, 208, 208) \
	FIELD(caml_domain_state, shared_heap,             NA,  NA, 272, 272, 272, 280, 312, 312) \
	FIELD(caml_domain_state, id,                      NA,  NA, 280, 280, 280, 288, 320, 320) \
	FIELD(caml_domain_state, unique_id,               NA,  NA, 288, 288, 288, 296, 328, 328) \
	FIELD(caml_domain_state, dls_root,                NA,  NA, 320, 296, 296, 304, 336, 336) \
	FIELD(caml_domain_state, memprof,                 NA,  NA,  NA,  NA, 456, 464, 496, 504) \
	\
	/* Precedes every chunk of the major heap. */ \
	SIZE(heap_chunk_head,                             48,  56,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(heap_chunk_head, size,                      16,  16,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(heap_chunk_head, next,                      24,  24,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(page_table, size,                            0,   0,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(page_table, entries,                        32,  32,  NA,  NA,  NA,  NA,  NA,  NA) \
	\
	FIELD(caml_heap_state, avail_pools,               NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(caml_heap_state, full_pools,                NA,  NA, 256, 256, 256, 256, 256, 256) \
	FIELD(caml_heap_state, unswept_avail_pools,       NA,  NA, 512, 512, 512, 512, 512, 512) \
	FIELD(caml_heap_state, unswept_full_pools,        NA,  NA, 768, 768, 768, 768, 768, 768) \
	FIELD(caml_heap_state, swept_large,               NA,  NA,1024,1024,1024,1024,1024,1024) \
	FIELD(caml_heap_state, unswept_large,             NA,  NA,1032,1032,1032,1032,1032,1032) \
	FIELD(caml_heap_state, stats,                     NA,  NA,1056,1056,1056,1056,1056,1056) \
	FIELD(heap_stats, pool_words,                     NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(heap_stats, pool_live_words,                NA,  NA,  16,  16,  16,  16,  16,  16) \
	FIELD(heap_stats, pool_live_blocks,               NA,  NA,  24,  24,  24,  24,  24,  24) \
	FIELD(heap_stats, pool_frag_words,                NA,  NA,  32,  32,  32,  32,  32,  32) \
	FIELD(heap_stats, large_words,                    NA,  NA,  40,  40,  40,  40,  40,  40) \
	FIELD(heap_stats, large_blocks,                   NA,  NA,  56,  56,  56,  56,  56,  56) \
	SIZE(pool,                                        NA,  NA,  32,  32,  32,  32,  32,  32) \
	FIELD(pool, next,                                 NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(pool, next_obj,                             NA,  NA,   8,   8,   8,   8,   8,   8) \
	FIELD(pool, owner,                                NA,  NA,  16,  16,  16,  16,  16,  16) \
	FIELD(pool, sz,                                   NA,  NA,  24,  24,  24,  24,  24,  24) \
	SIZE(large_alloc,                                 NA,  NA,  16,  16,  16,  16,  16,  16) \
	FIELD(large_alloc, owner,                         NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(large_alloc, next,                          NA,  NA,   8,   8,   8,   8,   8,   8) \
	/* The static variable of that name: what terminated domains left, and free pools. */ \
	FIELD(pool_freelist, free,                        NA,  NA,  40,  40,  40,  40,  40,  40) \
	FIELD(pool_freelist, stats,                       NA,  NA,  48,  48,  48,  48,  48,  48) \
	FIELD(pool_freelist, global_avail_pools,          NA,  NA, 112, 112, 112, 112, 112, 112) \
	FIELD(pool_freelist, global_full_pools,           NA,  NA, 368, 368, 368, 368, 368, 368) \
	FIELD(pool_freelist, global_large,                NA,  NA, 624, 624, 624, 624, 624, 624) \
	SIZE(dom_internal,                                NA,  NA, 280, 280, 280, 264, 272, 264) \
	FIELD(dom_internal, state,                        NA,  NA,   8,   8,   8,   8,  16,  16) \
	FIELD(stw_domains, participating_domains,         NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(stw_domains, domains,                       NA,  NA,   8,   8,   8,   8,   8,   8) \
	\
	FIELD(caml__roots_block, next,                     0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(caml__roots_block, ntables,                  8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(caml__roots_block, nitems,                  16,  16,  16,  16,  16,  16,  16,  16) \
	FIELD(caml__roots_block, tables,                  24,  24,  24,  24,  24,  24,  24,  24) \
	FIELD(skiplist, forward,                           0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(skipcell, key,                               0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(skipcell, data,                              8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(skipcell, forward,                          16,  16,  16,  16,  16,  16,  16,  16) \
	FIELD(lf_skiplist, head,                          NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(lf_skipcell, key,                           NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(lf_skipcell, data,                          NA,  NA,   8,   8,   8,   8,   8,   8) \
	FIELD(lf_skipcell, forward,                       NA,  NA,  40,  40,  40,  40,  40,  40) \
	FIELD(code_fragment, code_start,                   0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(code_fragment, code_end,                     8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(link, data,                                  0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(link, next,                                  8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(named_value, val,                            0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(named_value, next,                           8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(named_value, name,                          16,  16,  16,  16,  16,  16,  16,  16) \
	FIELD(custom_operations, identifier,               0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(custom_operations, finalize,                 8,   8,   8,   8,   8,   8,   8,   8) \
	\
	SIZE(final,                                       24,  24,  24,  24,  24,  24,  24,  24) \
	FIELD(final, fun,                                  0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(final, val,                                  8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(finalisable, table,                          0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(finalisable, young,                         16,  16,  16,  16,  16,  16,  16,  16) \
	FIELD(finalisable, size,                          24,  24,  24,  24,  24,  24,  24,  24) \
	/* struct to_do of 4.x and struct final_todo of 5.x */ \
	FIELD(final_todo, next,                            0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(final_todo, size,                            8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(final_todo, item,                           16,  16,  16,  16,  16,  16,  16,  16) \
	FIELD(caml_final_info, first,                     NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(caml_final_info, last,                      NA,  NA,  40,  40,  40,  40,  40,  40) \
	FIELD(caml_final_info, todo_head,                 NA,  NA,  80,  80,  80,  80,  80,  80) \
	FIELD(caml_final_info, next,                      NA,  NA, 104, 104, 104, 104, 104, 104) \
	FIELD(caml_ephe_info, todo,                       NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(caml_ephe_info, live,                       NA,  NA,   8,   8,   8,   8,   8,   8) \
	/* The static variable of that name: what terminated domains left. */ \
	FIELD(orph_structs, ephe_list_live,               NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(orph_structs, final_info,                   NA,  NA,   8,   8,   8,   8,   8,   8) \
	\
	FIELD(caml_context, bottom_of_stack,               0,   0,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_context, last_retaddr,                  8,   8,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_context, gc_regs,                      16,  16,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(stack_info, sp,                             NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(stack_info, handler,                        NA,  NA,  16,  16,  16,  16,  16,  16) \
	FIELD(stack_handler, handle_value,                NA,  NA,   0,   0,   0,   0,   0,   0) \
	FIELD(stack_handler, handle_exn,                  NA,  NA,   8,   8,   8,   8,   8,   8) \
	FIELD(stack_handler, handle_effect,               NA,  NA,  16,  16,  16,  16,  16,  16) \
	FIELD(stack_handler, parent,                      NA,  NA,  24,  24,  24,  24,  24,  24) \
	FIELD(caml_frame_descrs, frametables,             NA,  NA,  NA,  16,  16,  16,  16,  16) \
	/* Events of bytecode that the program has loaded. */ \
	FIELD(debug_info, start,                           0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(debug_info, end,                             8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(debug_info, num_events,                     16,  16,  16,  16,  16,  16,  16,  16) \
	FIELD(debug_info, events,                         24,  24,  24,  24,  24,  24,  24,  24) \
	SIZE(ev_info,                                     40,  40,  40,  40,  48,  48,  48,  48) \
	FIELD(ev_info, ev_pc,                              0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(ev_info, ev_filename,                        8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(ev_info, ev_defname,                        16,  16,  16,  16,  16,  16,  16,  16) \
	/* from 5.2 on ev_start_lnum, ev_start_chr and, from the start of the first line, ev_end_offset */ \
	FIELD(ev_info, ev_lnum,                           24,  24,  24,  24,  24,  24,  24,  24) \
	FIELD(ev_info, ev_startchr,                       28,  28,  28,  28,  28,  28,  28,  28) \
	FIELD(ev_info, ev_endchr,                         32,  32,  32,  32,  40,  40,  40,  40) \
	\
	FIELD(caml_thread_struct, descr,                   0,   0,   0,   0,   0,   0,   0,   0) \
	FIELD(caml_thread_struct, next,                    8,   8,   8,   8,   8,   8,   8,   8) \
	FIELD(caml_thread_struct, bottom_of_stack,        32,  32,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_thread_struct, last_retaddr,           40,  40,  NA,  NA,  NA,  NA,  NA,  NA) \
	/* Of the library of threads for bytecode. */ \
	FIELD(caml_thread_struct, stack_low,              24,  24,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_thread_struct, stack_high,             32,  32,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_thread_struct, sp,                     48,  48,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(caml_thread_struct, current_stack,          NA,  NA,  32,  32,  32,  32,  32,  32) \
	FIELD(caml_thread_struct, c_stack,                NA,  NA,  40,  40,  40,  40,  40,  40) \
	FIELD(caml_thread_struct, gc_regs,                48,  48,  80,  80,  80,  80,  80,  80) \
	FIELD(caml_thread_struct, local_roots,            64,  64,  48,  48,  48,  48,  48,  48) \
	FIELD(caml_thread_struct, backtrace_last_exn,     96,  96,  72,  72,  72,  72,  72,  72) \
	FIELD(caml_thread_struct, memprof_ctx,           104, 104,  NA,  NA,  NA,  NA,  NA,  NA) \
	SIZE(caml_thread_table,                           NA,  NA, 136, 136, 136, 144, 144, 144) \
	FIELD(caml_thread_table, active_thread,           NA,  NA,   0,   0,   0,   0,   0,   0) \
	\
	/* Gc.Memprof: struct tracked of 4.x, struct entry_s of 5.3. */ \
	SIZE(tracked,                                     48,  48,  NA,  NA,  NA,  48,  48,  48) \
	FIELD(tracked, block,                              0,   0,  NA,  NA,  NA,   0,   0,   0) \
	FIELD(tracked, n_samples,                          8,   8,  NA,  NA,  NA,  16,  16,  16) \
	FIELD(tracked, wosize,                            16,  16,  NA,  NA,  NA,  24,  24,  24) \
	FIELD(tracked, user_data,                         24,  24,  NA,  NA,  NA,   8,   8,   8) \
	FIELD(tracked, running,                           32,  32,  NA,  NA,  NA,  32,  32,  32) \
	FIELD(tracked, flags,                             40,  40,  NA,  NA,  NA,  40,  40,  40) \
	FIELD(entry_array, t,                              0,   0,  NA,  NA,  NA,   0,   0,   0) \
	FIELD(entry_array, alloc_len,                     16,  16,  NA,  NA,  NA,  16,  16,  16) \
	FIELD(entry_array, len,                           24,  24,  NA,  NA,  NA,  24,  24,  24) \
	FIELD(entries_s, config,                          NA,  NA,  NA,  NA,  NA,  56,  56,  56) \
	FIELD(caml_memprof_th_ctx, entries,               16,  16,  NA,  NA,  NA,  NA,  NA,  NA) \
	FIELD(memprof_domain_s, entries,                  NA,  NA,  NA,  NA,  NA,   8,   8,   8) \
	FIELD(memprof_domain_s, orphans,                  NA,  NA,  NA,  NA,  NA,  72,  72,  72) \
	FIELD(memprof_domain_s, threads,                  NA,  NA,  NA,  NA,   8,  88,  88,  88) \
	FIELD(memprof_thread_s, entries,                  NA,  NA,  NA,  NA,  NA,  24,  24,  24) \
	FIELD(memprof_thread_s, next,                     NA,  NA,  NA,  NA,  NA,  96,  96,  96) \
	FIELD(memprof_orphan_table_s, next,               NA,  NA,  NA,  NA,  NA,  64,  64,  64) \
	\
	/* bits of flags of a tracked block */ \
	TRAIT(memprof_source_shift,                        1,   1,  NA,  NA,  NA,   0,   0,   0) \
	TRAIT(memprof_deallocated_bit,                     4,   4,  NA,  NA,  NA,   5,   5,   5) \
	TRAIT(memprof_deleted_bit,                         7,   7,  NA,  NA,  NA,   6,   6,   6) \
	/* stw_domains.domains and all_domains are pointers to arrays, not arrays. */ \
	TRAIT(domains_by_pointer,                         NA,  NA,   0,   0,   0,   1,   1,   1) \
	/* Pools keep what no slot fits in before the first slot, not after the last. */ \
	TRAIT(pool_waste_first,                           NA,  NA,   0,   0,   1,   1,   1,   1) \
	/* Bytes of the member sz of a pool. */ \
	TRAIT(pool_sz_bytes,                              NA,  NA,   4,   4,   4,   4,   4,   1) \
	/* A free slot of a pool has a header, which counts the free ones after it: these have none
	   (snap_is_free_slots()); before, each free slot has 0 for a header. */ \
	TRAIT(counted_free_slots,                         NA,  NA,   0,   0,   0,   0,   0,   1) \
	/* Of code compiled by the version: debuginfo has a second form with end lines. */ \
	TRAIT(debuginfo_end_lines,                         0,   0,   0,   0,   1,   1,   1,   1) \
	/* Which of the processor's noalloc_keepers keeps the stack pointer of a fiber during a
	   noalloc C call. */ \
	TRAIT(noalloc_keeper,                             NA,  NA,   0,   1,   1,   1,   2,   2)
/* clang-format on */

enum { SNAP_SIZE_CLASSES = 32, SNAP_POOL_BYTES = 4096 * 8 };

struct snap_layout {
	const char *name;            /* "4.13" */
	const uint8_t *size_classes; /* words of a slot, header included; NULL for 4.x */
	enum snap_ocaml_version version;
#define SNAP_LAYOUT_FIELD(structure, member, ...) uint16_t structure##_##member;
#define SNAP_LAYOUT_SIZE(structure, ...) uint16_t sizeof_##structure;
#define SNAP_LAYOUT_TRAIT(trait, ...) uint16_t trait;
	SNAP_LAYOUT(SNAP_LAYOUT_FIELD, SNAP_LAYOUT_SIZE, SNAP_LAYOUT_TRAIT)
#undef SNAP_LAYOUT_FIELD
#undef SNAP_LAYOUT_SIZE
#undef SNAP_LAYOUT_TRAIT
};

const struct snap_layout *snap_layout_at(enum snap_ocaml_version version);

/*
 * The layout where pthread_mutex_t has another size than on x86-64: members that come after one in
 * their structure move by the difference.
 */
struct snap_layout snap_layout_with_mutex(const struct snap_layout *layout, unsigned mutex_bytes);

/* Byte offset in a pool of the first slot of a size class < SNAP_SIZE_CLASSES of 5.x. */
uint32_t snap_layout_first_slot(const struct snap_layout *layout, uint32_t size_class);

/*
 * Rows of the table by number, for tests and listings; false past the end.  'structure' of a size
 * row has no member (NULL); traits are no rows.
 */
struct snap_layout_row {
	const char *structure, *member;
	uint16_t value;
};
bool snap_layout_get_row(
	const struct snap_layout *layout, size_t index, struct snap_layout_row *out);

/*
 * Which version a program is of, by the text of Stdlib.Sys.ocaml_version and by symbols: for cores
 * and living processes alike.
 */

/* For messages: what snap_layout_of() knows. */
#define SNAP_OCAML_SUPPORTED "4.13, 4.14 and 5.0 to 5.5"

/* Names that the symbol of the block of Stdlib.Sys has had; NULL at the end. */
const char *snap_sys_symbol(unsigned index);

/* Whether a text begins like "4.13.1", and can be shown. */
bool snap_is_version(const char *text);

/* The layout of "4.13.1" or "4.13", or NULL if this program does not know that version. */
const struct snap_layout *snap_layout_of(const char *version);

/* For messages, after SNAP_OCAML_SUPPORTED: what to do about a version that is not known. */
const char *snap_layout_remedy(const char *version);

/* Whether a program has a symbol. */
typedef bool snap_has_symbol(void *program, const char *name);

/*
 * "5.2", or "4.10 to 4.12", for a program whose text is not to be had; static.  The family, 'is_5',
 * is known by Caml_state or caml_state.
 */
const char *snap_version_of_symbols(bool is_5, snap_has_symbol *has, void *program);

/* Whether it interprets bytecode; a program of ocamlopt may do so, too. */
bool snap_has_interpreter(snap_has_symbol *has, void *program);
bool snap_is_interpreter(const char *function);

/*
 * Moments at which the runtime has blocks half moved or half made, told by the names of its
 * functions: a table from the sources of 4.13 to 5.3 (runtime/minor_gc.c, compact.c, shared_heap.c,
 * array.c, obj.c).
 */
enum snap_moment {
	SNAP_MOMENT_NONE,
	SNAP_MOMENT_MINOR_COLLECTION,
	SNAP_MOMENT_COMPACTION,
	SNAP_MOMENT_FILLING /* of a block that a local root holds already */
};

/*
 * What a function of the runtime is part of.  *is_ahead: nothing has been moved yet, as when a
 * domain of 5.x waits for the others to begin a collection; with more domains than processors that
 * is where they mostly are.
 */
enum snap_moment snap_moment_of_function(const char *name, bool *is_ahead);

#endif
