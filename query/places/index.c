/* Frees the index of places. */
#include "query/places/index.h"

void query_places_release(struct query_places *places)
{
	if (!places)
		return;
	free(places->made);
	base_map_release(&places->own);
	free(places->same);
	query_pairs_release(&places->lines);
	base_map_release(&places->file_numbers);
	free(places->files);
	query_pairs_release(&places->pairs);
	free(places->located);
	free(places->next_located);
	free(places->first_located);
	base_map_release(&places->told);
	base_pool_release(&places->pool);
	free(places);
}
