/* watched_self.h for programs of OCaml. */
#define CAML_NAME_SPACE
#include "tests/targets/watched_self.h"

#include <caml/mlvalues.h>

value watched_ml_open(value path, value slots)
{
	watched_open(String_val(path));
	watched->slots = (unsigned long)Long_val(slots);
	return Val_unit;
}

value watched_ml_thread(value unit)
{
	watched_thread();
	return unit;
}

value watched_ml_ready(value unit)
{
	watched->ready = 1;
	return unit;
}

value watched_ml_round(value slot, value right)
{
	if (!Bool_val(right))
		watched->torn++;
	watched_round((unsigned)Long_val(slot));
	return Val_unit;
}

value watched_ml_interrupted(value unit)
{
	watched->interrupted++;
	return unit;
}

value watched_ml_ending(value unit)
{
	(void)unit;
	return Val_bool(watched_ending());
}

value watched_ml_result(value unit)
{
	watched_result();
	return unit;
}
