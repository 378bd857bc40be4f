/*
 * ui_tools.h - tools by which Claude steers the editor (seed 004 story 6, P6.x).
 *
 * Each logs its action, when a session is active, and publishes its message for every
 * window after the commit. Highlights and hints of files add up in the windows; nothing
 * of them is stored (FR-072).
 */
#ifndef PAIGE_STORE_UI_TOOLS_H
#define PAIGE_STORE_UI_TOOLS_H

struct store;
struct call;

/* Services. */
int ui_highlight_lines(struct store *store, struct call *call);
int ui_clear_highlights(struct store *store, struct call *call);
int ui_hint_files(struct store *store, struct call *call);
int ui_clear_hints(struct store *store, struct call *call);
int ui_show_message(struct store *store, struct call *call);
int ui_show_issue_context(struct store *store, struct call *call);

#endif
