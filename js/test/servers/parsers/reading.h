/* The lines of standard input, and what a server in C makes of them: a text ends at its first NUL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **names;
static size_t count, room;

static void put_hex(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) printf("%02x", *at);
}

static void put_text(const char *text) {
    if (text == NULL) {
        printf("- ");
        return;
    }
    printf("t");
    put_hex(text);
    printf(" ");
}

static void put_number(double number) { printf("n%.17g ", number); }

static void add_name(const char *name) {
    if (count == room) {
        room = room * 2 + 16;
        names = realloc(names, room * sizeof *names);
        if (names == NULL) abort();
    }
    names[count] = strdup(name);
    if (names[count++] == NULL) abort();
}

static int compare(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static void put_names(void) {
    if (count > 0) qsort(names, count, sizeof *names, compare);
    for (size_t at = 0; at < count; at++) {
        if (at > 0) printf(",");
        put_hex(names[at]);
    }
    for (size_t at = 0; at < count; at++) free(names[at]);
    count = 0;
    puts("");
}

static int read_lines(void (*read_line)(const char *)) {
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, stdin)) >= 0) {
        if (length > 0 && line[length - 1] == '\n') line[length - 1] = 0;
        read_line(line);
    }
    free(line);
    return fflush(stdout) != 0;
}
