/* Addresses of values, a root that has no type, and waiting. */
#define CAML_NAME_SPACE
#define CAML_INTERNALS
#include <unistd.h>

#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>
#ifdef __has_include
#if __has_include(<caml/domain.h>)
#include <caml/domain.h>
#endif
#endif

/* Of field 0 of the block, of the whole block if it is a closure that shares one: even, so that
 * half of it is an integer of OCaml whose double is the address. */
value truth_address(value v)
{
	if (Tag_val(v) == Infix_tag)
		v -= Infix_offset_val(v);
	return Val_long((intnat)v);
}

value truth_is_young(value v)
{
	return Val_bool(Is_young(v));
}

static value root = Val_emptylist;
static int registered;

value truth_hold(value v)
{
	if (!registered) {
		root = v;
		registered = 1;
		caml_register_generational_global_root(&root);
	} else {
		caml_modify_generational_global_root(&root, v);
	}
	return Val_unit;
}

value truth_held(value unit)
{
	(void)unit;
	return root;
}

value truth_wait(value unit)
{
	(void)unit;
	caml_enter_blocking_section();
	for (;;)
		pause();
	return Val_unit;
}
