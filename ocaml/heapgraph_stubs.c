/* What heapgraph.ml calls. */
#define CAML_NAME_SPACE
#define CAML_INTERNALS

#include "ocaml/dump.h"
#include "ocaml/follow.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <caml/alloc.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>
#include <caml/version.h>
#if OCAML_VERSION >= 50000
#include <caml/domain.h>
#endif

#if OCAML_VERSION >= 50000

/* The domains that stand still, and the one among them that forks. */
struct stop {
	struct dump *dump;
	const caml_domain_state *leader;
	uint64_t start; /* dump_nanoseconds() */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int arrived;
	bool forked;
};

static void lead(struct stop *stop, int count)
{
	pthread_mutex_lock(&stop->mutex);
	while (stop->arrived < count - 1)
		pthread_cond_wait(&stop->changed, &stop->mutex);
	pthread_mutex_unlock(&stop->mutex);
	stop->dump->domains = (unsigned)count;
	stop->dump->stop_ns = dump_nanoseconds() - stop->start;
	dump_fork(stop->dump);
	pthread_mutex_lock(&stop->mutex);
	stop->forked = true;
	pthread_cond_broadcast(&stop->changed);
	while (stop->arrived > 0)
		pthread_cond_wait(&stop->changed, &stop->mutex);
	pthread_mutex_unlock(&stop->mutex);
}

static void stand_still(struct stop *stop)
{
	pthread_mutex_lock(&stop->mutex);
	stop->arrived++;
	pthread_cond_broadcast(&stop->changed);
	while (!stop->forked)
		pthread_cond_wait(&stop->changed, &stop->mutex);
	/* The leader's stack holds the struct: it goes on when all have left. */
	stop->arrived--;
	pthread_cond_broadcast(&stop->changed);
	pthread_mutex_unlock(&stop->mutex);
}

/*
 * Runs on every domain, on a domain in a blocking section by its backup thread.  The runtime's own
 * barrier is not used because its parameters differ between versions.
 */
static void meet(
	caml_domain_state *domain, void *data, int count, caml_domain_state **participating)
{
	struct stop *stop = data;
	(void)participating;
	if (domain == stop->leader)
		lead(stop, count);
	else
		stand_still(stop);
}

static void stop_and_fork(struct dump *dump)
{
	struct stop stop = {
		.dump = dump,
		.leader = Caml_state,
		.start = dump_nanoseconds(),
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	/* False when another domain has begun to stop all; its turn has been served then. */
	while (!caml_try_run_on_all_domains(meet, &stop, NULL))
		continue;
	pthread_cond_destroy(&stop.changed);
	pthread_mutex_destroy(&stop.mutex);
}

#else

static void stop_and_fork(struct dump *dump)
{
	dump_fork(dump);
}

#endif

static void take(struct dump *dump, value folder, value trigger)
{
	ucontext_t context;
	if (!dump_prepare(dump, String_val(folder), String_val(trigger)))
		return;
	snprintf(dump->ocaml_version, sizeof(dump->ocaml_version), "%s", OCAML_VERSION_STRING);
	getcontext(&context);
	dump_set_registers(dump, &context);
	stop_and_fork(dump);
}

static struct dump *allocate(void)
{
	struct dump *dump = malloc(sizeof(*dump));
	if (!dump)
		caml_raise_out_of_memory();
	return dump;
}

/* folder -> trigger -> path; raises Sys_error or Failure. */
CAMLprim value heapgraph_dump(value folder, value trigger)
{
	CAMLparam2(folder, trigger);
	CAMLlocal1(text);
	struct dump *dump = allocate();
	take(dump, folder, trigger);
	caml_enter_blocking_section_no_pending();
	bool fine = dump_wait(dump);
	if (fine)
		follow_note(dump);
	caml_leave_blocking_section();
	text = caml_copy_string(fine ? dump->path : dump->message);
	bool of_system = dump->of_system;
	dump_release(dump);
	free(dump);
	if (!fine && of_system)
		caml_raise_sys_error(text);
	if (!fine)
		caml_failwith_value(text);
	CAMLreturn(text);
}

/* folder -> trigger -> unit; what fails is told on stderr. */
CAMLprim value heapgraph_dump_unattended(value folder, value trigger)
{
	CAMLparam2(folder, trigger);
	struct dump *dump = allocate();
	if (follow_claim()) {
		take(dump, folder, trigger);
		follow(dump);
	} else {
		free(dump);
	}
	CAMLreturn(Val_unit);
}

CAMLprim value heapgraph_close(value unit)
{
	caml_enter_blocking_section_no_pending();
	follow_close();
	caml_leave_blocking_section();
	return unit;
}

CAMLprim value heapgraph_init(value unit)
{
	follow_init();
	return unit;
}

static value seconds(uint64_t nanoseconds)
{
	return caml_copy_double((double)nanoseconds * 1e-9);
}

/* unit -> Heapgraph.stats option */
CAMLprim value heapgraph_last(value unit)
{
	CAMLparam1(unit);
	CAMLlocal3(stats, field, some);
	struct follow_latest *latest = malloc(sizeof(*latest));
	if (!latest)
		caml_raise_out_of_memory();
	*latest = follow_get_latest();
	some = Val_int(0);
	if (latest->is_there) {
		const struct dump *dump = &latest->dump;
		stats = caml_alloc(8, 0);
		field = caml_copy_string(dump->path);
		Store_field(stats, 0, field);
		Store_field(stats, 1, Val_long((intnat)dump->index));
		field = caml_copy_string(dump->trigger);
		Store_field(stats, 2, field);
		Store_field(stats, 3, Val_int(dump->domains));
		field = seconds(dump->stop_ns);
		Store_field(stats, 4, field);
		field = seconds(dump->fork_ns);
		Store_field(stats, 5, field);
		field = seconds(dump->write_ns);
		Store_field(stats, 6, field);
		Store_field(stats, 7, Val_long((intnat)dump->bytes));
		some = caml_alloc_small(1, 0);
		Field(some, 0) = stats;
	}
	free(latest);
	CAMLreturn(some);
}

/* The clock */

/* A number that is never sent: the runtime only notes that its handler is to run. */
static int clock_signal(void)
{
	return SIGRTMAX - 5;
}

CAMLprim value heapgraph_clock_signal(value unit)
{
	(void)unit;
	return Val_int(clock_signal());
}

/*
 * As if the signal had come, but without one: no system call of the program is interrupted.  The
 * runtime itself has its threads take turns in this way.
 */
static void tick(void)
{
#if OCAML_VERSION >= 50000 && OCAML_VERSION < 50200
	/* There caml_record_signal() wants the thread to belong to a domain. */
	caml_init_domain_self(0);
#endif
	caml_record_signal(clock_signal());
}

/* float -> unit; raises Sys_error */
CAMLprim value heapgraph_clock(value period)
{
	CAMLparam1(period);
	int status = follow_clock(Double_val(period), tick);
	if (status != 0)
		caml_raise_sys_error(caml_copy_string("no thread for the clock"));
	CAMLreturn(Val_unit);
}
