# A server on jq's own parser: each line of its input as it reads it. See parsers.mjs for the form of its output.
def digit: "0123456789abcdef"[.:. + 1];
def byte: ((. / 16 | floor) | digit) + ((. % 16) | digit);
def utf8:
  if . < 128 then [.]
  elif . < 2048 then [192 + (. / 64 | floor), 128 + . % 64]
  elif . < 65536 then [224 + (. / 4096 | floor), 128 + (. / 64 | floor) % 64, 128 + . % 64]
  else [240 + (. / 262144 | floor), 128 + (. / 4096 | floor) % 64, 128 + (. / 64 | floor) % 64, 128 + . % 64]
  end;
def hex: explode | map(utf8[] | byte) | add // "";
def spell: if type == "string" then "t" + hex elif type == "number" then "n\(.)" else "-" end;
def member(name): if type == "object" then .[name] else null end;
(try fromjson catch null) as $message
| if ($message | type) != "object" then "error"
  else
    ($message | member("params")) as $params
    | [ ($message.method | spell), ($message.id | spell), ($params | member("name") | spell),
        ([$params | member("arguments") | .. | objects | keys[] | hex] | sort | join(",")) ]
    | join(" ")
  end
