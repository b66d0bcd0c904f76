/* A server on cJSON: each line of its input as it reads it. See parsers.mjs for the form of its output. */
#include <cjson/cJSON.h>
#include "reading.h"

static void names_of(const cJSON *value) {
    for (const cJSON *item = value->child; item != NULL; item = item->next) {
        if (cJSON_IsObject(value)) add_name(item->string);
        names_of(item);
    }
}

static void read_line(const char *line) {
    cJSON *message = cJSON_Parse(line);
    if (!cJSON_IsObject(message)) {
        puts("error");
        cJSON_Delete(message);
        return;
    }
    put_text(cJSON_GetStringValue(cJSON_GetObjectItem(message, "method")));
    const cJSON *id = cJSON_GetObjectItem(message, "id");
    if (cJSON_IsNumber(id)) {
        put_number(cJSON_GetNumberValue(id));
    } else {
        put_text(cJSON_GetStringValue(id));
    }
    const cJSON *params = cJSON_GetObjectItem(message, "params");
    put_text(cJSON_GetStringValue(cJSON_GetObjectItem(params, "name")));
    const cJSON *arguments = cJSON_GetObjectItem(params, "arguments");
    if (arguments != NULL) names_of(arguments);
    put_names();
    cJSON_Delete(message);
}

int main(void) { return read_lines(read_line); }
