/* dashboard.h - figures and lists for the dashboard and for the Observer (seed 004
 * stories 10 and 12). */
#ifndef PAIGE_STORE_DASHBOARD_H
#define PAIGE_STORE_DASHBOARD_H

struct store;
struct call;

/* Services. */
int dashboard_state(struct store *store, struct call *call);
int dashboard_context(struct store *store, struct call *call);
int observer_context(struct store *store, struct call *call);

#endif
