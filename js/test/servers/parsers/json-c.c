/* A server on json-c: each line of its input as it reads it. See parsers.mjs for the form of its output. */
#include <json-c/json.h>
#include "reading.h"

static void names_of(struct json_object *value) {
    if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, name, member) {
            add_name(name);
            names_of(member);
        }
    } else if (json_object_is_type(value, json_type_array)) {
        for (size_t at = 0; at < json_object_array_length(value); at++) {
            names_of(json_object_array_get_idx(value, at));
        }
    }
}

static struct json_object *member(struct json_object *object, const char *name) {
    struct json_object *found = NULL;
    if (json_object_is_type(object, json_type_object)) json_object_object_get_ex(object, name, &found);
    return found;
}

static void put_member(struct json_object *value) {
    switch (json_object_get_type(value)) {
    case json_type_int:
    case json_type_double: put_number(json_object_get_double(value)); break;
    case json_type_string: put_text(json_object_get_string(value)); break;
    default: put_text(NULL);
    }
}

static void read_line(const char *line) {
    struct json_object *message = json_tokener_parse(line);
    if (!json_object_is_type(message, json_type_object)) {
        puts("error");
        json_object_put(message);
        return;
    }
    put_member(member(message, "method"));
    put_member(member(message, "id"));
    struct json_object *params = member(message, "params");
    put_member(member(params, "name"));
    names_of(member(params, "arguments"));
    put_names();
    json_object_put(message);
}

int main(void) { return read_lines(read_line); }
