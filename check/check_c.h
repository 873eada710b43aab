/* Judges histories from C, and so from Go, Java or Python: check.h and input.h behind functions.
 *
 * Texts are UTF-8 and end with a zero. A text that a function returns is the caller's, who gives it to
 * whorl_check_free_text. An object is used by one thread at a time. */
#ifndef WHORL_CHECK_CHECK_C_H_
#define WHORL_CHECK_CHECK_C_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef struct whorl_check whorl_check;

/* `options` is JSON: {"protocol": "fenced_lease", "lease": "10s", "clock_error": "10ms", "window": "60s",
 * "lock": "job", "table": "locks", "format": "json", "pattern": "mapping.json"}; only the protocol is
 * required. `pattern` says how logs are read: the name of a ready mapping ("spindle_v2"), a file with one,
 * or the mapping itself, an object. If they are wrong it returns NULL and sets *error, unless `error` is
 * NULL. */
whorl_check* whorl_check_new(const char* options, char** error);

/* Adds the next line of a file (docs/CHECKING.md has the formats). Lines of several files may come in turn;
 * a file's lines come in order. Returns NULL, or what is wrong with the line: then nothing of it is added,
 * and nothing is log_line to hold any more. */
char* whorl_check_add_line(whorl_check* check, const char* file, const char* line);

/* The verdict on all lines as JSON, as `whorl check --json` prints it. Nothing can be added after it:
 * lines are refused, and a second call returns NULL. */
char* whorl_check_verdict(whorl_check* check);

void whorl_check_free(whorl_check* check); /* NULL is allowed */
void whorl_check_free_text(char* text);    /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif /* WHORL_CHECK_CHECK_C_H_ */
