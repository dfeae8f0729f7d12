/* What the programs cannot do in OCaml. */
#define CAML_NAME_SPACE
#include <stdlib.h>
#include <string.h>

#include <caml/alloc.h>
#include <caml/bigarray.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

value report_address(value v)
{
	return caml_copy_nativeint((intnat)v);
}

/* Bits of a header that are neither size, color nor tag.  What OCaml code takes for the largest
 * size of a block (Sys.max_array_length) does not know of them. */
value report_reserved_bits(value unit)
{
	intnat bits = 54;
	uintnat largest;
	(void)unit;
	for (largest = Max_wosize; largest != 0; largest >>= 1)
		bits--;
	return Val_long(bits);
}

/* Three slots of C: two stay registered, the third is taken back. */
static value old_style, generational, forgotten;

value stubs_register(value first, value second)
{
	CAMLparam2(first, second);
	old_style = first;
	generational = second;
	forgotten = first;
	caml_register_global_root(&old_style);
	caml_register_generational_global_root(&generational);
	caml_register_generational_global_root(&forgotten);
	caml_remove_generational_global_root(&forgotten);
	CAMLreturn(Val_unit);
}

static void finalize(value v)
{
	(void)v;
}

static struct custom_operations handle_operations = {
	.identifier = "heapgraph.tests.handle",
	.finalize = finalize,
};

/* A custom block of three words of data that look like anything but values. */
value stubs_handle(value n)
{
	value v = caml_alloc_custom(&handle_operations, 24, 0, 1);
	memset(Data_custom_val(v), 0x40 + (int)(Long_val(n) & 0x3f), 24);
	return v;
}

/* An abstract block whose words are not values. */
value stubs_abstract(value words)
{
	mlsize_t n = (mlsize_t)Long_val(words), i;
	value v = caml_alloc(n, Abstract_tag);
	for (i = 0; i < n; i++)
		Field(v, i) = (value)(0x1000 + 8 * i);
	return v;
}

/* Calls f from a C frame, whose local roots alone hold a tuple with v in it. */
value stubs_with_local(value f, value v)
{
	CAMLparam2(f, v);
	CAMLlocal2(tuple, result);
	tuple = caml_alloc_tuple(2);
	Store_field(tuple, 0, v);
	Store_field(tuple, 1, Val_int(7));
	result = caml_callback(f, Val_unit);
	v = Field(tuple, 0);
	CAMLreturn(result);
}

static struct custom_operations owner_operations = {
	.identifier = "heapgraph.tests.owner",
	.finalize = finalize,
};

/* A custom block that tells the runtime of so many bytes outside. */
value stubs_owner(value bytes)
{
	return caml_alloc_custom_mem(&owner_operations, 8, (mlsize_t)Long_val(bytes));
}

/* A Bigarray over memory of C, which it owns if it is given away. */
value stubs_outside(value size, value given)
{
	static char kept[1 << 16];
	intnat bytes = Long_val(size);
	void *data = Bool_val(given) ? malloc((size_t)bytes) : kept;
	return caml_ba_alloc_dims(CAML_BA_CHAR | CAML_BA_C_LAYOUT |
					  (Bool_val(given) ? CAML_BA_MANAGED : CAML_BA_EXTERNAL),
		1, data, bytes);
}
