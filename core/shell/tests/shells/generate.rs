//! Lines of commands, made of what shells read in their own ways.

use fastrand::Rng;

fn choose<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

/// A line, or several.
pub(crate) fn line(random: &mut Rng) -> String {
    let mut text = list(random, 3);
    // Some lines are damaged: a character less, or one more.
    if random.u8(..8) == 0 {
        let at = (0..=text.len())
            .rev()
            .find(|at| *at <= random.usize(..=text.len()) && text.is_char_boundary(*at));
        let at = at.unwrap_or_default();
        if random.bool() && at < text.len() {
            text.remove(at);
        } else {
            text.insert_str(
                at,
                choose(
                    random,
                    &[
                        "'", "\"", "\\", "$", "`", "(", ")", "{", "}", "&", "|", ";", "<", ">", "~", "=",
                        "*", "!", "#", " ", "\n", "[", "]", ",", "-", "1",
                    ],
                ),
            );
        }
    }
    text
}

fn list(random: &mut Rng, depth: u8) -> String {
    let mut text = String::new();
    let count = 1 + random.usize(..3);
    for at in 0..count {
        text.push_str(&pipeline(random, depth));
        if at + 1 < count {
            text.push_str(choose(
                random,
                &[
                    "; ", " && ", " || ", "\n", " & ", ";", "&&", "||", " &&\n  ", " ||\n",
                ],
            ));
        }
    }
    text
}

fn pipeline(random: &mut Rng, depth: u8) -> String {
    let mut text = String::new();
    if random.u8(..20) == 0 {
        text.push_str("! ");
    }
    text.push_str(&command(random, depth));
    for _ in 0..random.u8(..6).saturating_sub(3) {
        text.push_str(choose(random, &[" | ", "|", " |\n "]));
        text.push_str(&command(random, depth));
    }
    text
}

fn command(random: &mut Rng, depth: u8) -> String {
    if depth > 0 {
        let inner = depth - 1;
        match random.u8(..26) {
            0 => return format!("({})", list(random, inner)),
            1 => return format!("{{ {}; }}{}", list(random, inner), redirect(random, inner)),
            2 => return format!("if {}; then {}; fi", list(random, inner), list(random, inner)),
            3 => {
                return format!(
                    "if {}; then {}\nelse {}; fi{}",
                    pipeline(random, inner),
                    list(random, inner),
                    list(random, inner),
                    redirect(random, inner)
                );
            }
            4 => {
                return format!(
                    "for {} in {} {}; do {}; done",
                    choose(random, &["x", "f", "name"]),
                    word(random, inner),
                    word(random, inner),
                    list(random, inner)
                );
            }
            5 => {
                return format!(
                    "case {} in a*|b) {};; *) {};; esac",
                    word(random, inner),
                    list(random, inner),
                    list(random, inner)
                );
            }
            6 => {
                return format!(
                    "while fails {}; do {}; done",
                    word(random, inner),
                    list(random, inner)
                );
            }
            7 => {
                return format!(
                    "until show {}\ndo {}\ndone",
                    word(random, inner),
                    list(random, inner)
                );
            }
            8 => return format!("cat <<{}\n", heredoc(random)),
            9 => return format!("for i in 1 2 3\ndo {}; break; done", list(random, inner)),
            _ => {}
        }
    }
    match random.u8(..20) {
        0 => {
            return format!(
                "cd {}",
                choose(
                    random,
                    &[
                        "src",
                        "docs",
                        "..",
                        "./src/sub",
                        "missing",
                        "'a b'",
                        "~",
                        "\"$HOME\"",
                        "src/..",
                        "-",
                        ""
                    ]
                )
            );
        }
        1 => {
            return format!(
                "{}={}",
                choose(random, &["x", "f", "name", "dir"]),
                word(random, depth)
            );
        }
        2 => {
            return format!(
                "[ {} {} {} ]",
                word(random, depth),
                choose(random, &["=", "!=", "-eq"]),
                word(random, depth)
            );
        }
        3 => return format!("read -r {}", choose(random, &["x", "f"])),
        4 => return format!("export {}={}", choose(random, &["x", "f"]), word(random, depth)),
        5 => return condition(random, depth),
        _ => {}
    }
    let mut text = String::new();
    if random.u8(..12) == 0 {
        text.push_str(&format!(
            "{}={} ",
            choose(random, &["x", "f", "A"]),
            word(random, depth)
        ));
    }
    if random.u8(..25) == 0 {
        text.push_str(redirect(random, depth).trim_start());
        text.push(' ');
    }
    text.push_str(choose(
        random,
        &[
            "show", "run", "fails", "'show'", "\\run", "\"show\"", "sh\"o\"w", "r'u'n", "echo", "true",
        ],
    ));
    for _ in 0..random.u8(..4) {
        text.push_str(choose(random, &[" ", "  ", "\t", " \\\n "]));
        text.push_str(&word(random, depth));
    }
    for _ in 0..random.u8(..5).saturating_sub(3) {
        text.push_str(&redirect(random, depth));
    }
    if random.u8(..30) == 0 {
        text.push_str(" # it's a comment; rm x");
    }
    text
}

/// `[[ … ]]`, which dash takes for several commands.
fn condition(random: &mut Rng, depth: u8) -> String {
    let mut text = "[[ ".to_owned();
    for _ in 0..random.u8(..3) {
        text.push_str(&one_condition(random, depth));
        text.push_str(choose(random, &[" && ", " || ", "&&", " &&\n "]));
    }
    text.push_str(&one_condition(random, depth));
    text.push_str(choose(random, &[" ]]", " ]]", " ]] && show a", " ]] || show b"]));
    text
}

fn one_condition(random: &mut Rng, depth: u8) -> String {
    let word = word(random, depth);
    let operator = choose(random, &["-f ", "! -d ", "-z ", "! -n ", "", "! ", "show == "]);
    format!("{operator}{word}")
}

fn redirect(random: &mut Rng, depth: u8) -> String {
    let to = match random.u8(..6) {
        0 => word(random, depth),
        1 => "\"$x\"".to_owned(),
        2 => "/dev/null".to_owned(),
        _ => choose(
            random,
            &[
                "out",
                "'o u t'",
                "src/out.txt",
                "../work/o",
                "~/log",
                "\"$HOME/h\"",
                "o\\ o",
                "out2",
            ],
        )
        .to_owned(),
    };
    match random.u8(..12) {
        0 => format!(" 2>{to}"),
        1 => format!(" >> {to}"),
        2 => " 2>&1".to_owned(),
        3 => " < a.txt".to_owned(),
        4 => format!(" >| {to}"),
        5 => format!(" &> {to}"),
        6 => " <<< 'text'".to_owned(),
        7 => format!(" 3> {to}"),
        8 => format!(" <> {to}"),
        9 => " 2>&-".to_owned(),
        _ => format!(" > {to}"),
    }
}

fn heredoc(random: &mut Rng) -> &'static str {
    choose(
        random,
        &[
            "'EOF'\nit's $x `run` \"text\nEOF",
            "EOF\nplain 'text\nEOF",
            "EOF\n$x and ${f} and $(show inner)\nEOF",
            "\"E F\"\nEOF\nE F",
            "EOF | show piped\nbody )\nEOF",
            "-EOF\n\ttabs\n\tEOF",
            "EOF > out\n\\$x \\\\ \\a\nEOF",
            "A <<B\na\nA\nb\nB",
        ],
    )
}

/// What words are divided and expanded by.
const MARKS: &[&str] = &[
    "{", "}", ",", "~", "/", ":", "=", "*", "?", "[a]", "..", "$x", "\"$x\"", "${x}", "''", "\"\"", "'a'",
    "\\,", "\\{", "a", "b", "1", "-", "!", "^", "#", "%", "@", "+", "$", "]",
];

fn word(random: &mut Rng, depth: u8) -> String {
    let mut text = String::new();
    if random.u8(..6) == 0 {
        for _ in 0..2 + random.u8(..5) {
            text.push_str(choose(random, MARKS));
        }
        return text;
    }
    for _ in 0..1 + random.u8(..3) / 2 {
        text.push_str(&piece(random, depth));
    }
    text
}

fn piece(random: &mut Rng, depth: u8) -> String {
    if depth > 0 && random.u8(..12) == 0 {
        let inner = list(random, depth - 1);
        return match random.u8(..4) {
            0 => format!("$({inner})"),
            1 => format!("\"$({inner})\""),
            2 => format!("`{inner}`"),
            _ => format!(
                "\"$(cat <<'E'\nit's {}\nE\n)\"",
                choose(random, &["(text", "a \"b", "$x", "`"])
            ),
        };
    }
    choose(
        random,
        &[
            "a",
            "b.txt",
            "-n",
            "--long=value",
            "src/main.rs",
            "'single'",
            "'a b'",
            "\"double\"",
            "\"a b\"",
            "\"$x\"",
            "$x",
            "${x}",
            "\"${x}y\"",
            "\"$HOME/f\"",
            "~",
            "~/f",
            "~root",
            "*.txt",
            "src/*",
            "?",
            "[ab].txt",
            "a\\ b",
            "\\$x",
            "\\*",
            "'*'",
            "\"*\"",
            "{a,b}",
            "a{1,2}.c",
            "{}",
            "HEAD@{1}",
            "HEAD^",
            "HEAD~1",
            "a#b",
            "a=b",
            "=",
            "==",
            "=a",
            "@",
            "%s",
            "a:b",
            "a,b",
            "\"it's\"",
            "'\"'",
            "$'a\\tb'",
            "$((1 + 2))",
            "\"$((x + 1))\"",
            "$?",
            "\"$#\"",
            "$$",
            "${#x}",
            "\"${x:-d}\"",
            "${x%.txt}",
            "$1",
            "\"$@\"",
            "!",
            "a!b",
            "\"a!b\"",
            "\"\\\"q\\\"\"",
            "\"\\a\"",
            "\"a\\\\\"",
            "''",
            "\"\"",
            "é",
            "'日本'",
            "\"$\"",
            "a$",
            "$x:h",
            "\"$x:t\"",
            "${x}:h",
            "\"$x[1]\"",
            "a]",
            "a}",
            "}",
            "{",
            "if",
            "done",
            "in",
            "1",
            "2",
            "--",
            "+x",
            "/dev/null",
            "\"`run q`\"",
            "$(run s)",
            "\"$(run 't t')\"",
            "<(run p)",
            "\\a",
            "a\\'b",
            "^a",
            "a~",
            "x=~/f",
            "--d=~/f",
            "a:~",
            "$x$f",
            "\"$x $f\"",
            "\"$PWD\"",
            "\"$(pwd)/x\"",
            "${x:=y}",
            "${!x}",
            "$[1+1]",
            "$\"a\"",
            "a;b",
            "'a\nb'",
            "\"a\nb\"",
            "a{b",
            "{1..3}",
        ],
    )
    .to_owned()
}
