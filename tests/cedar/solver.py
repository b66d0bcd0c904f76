#!/usr/bin/env python3
"""The solver cvc5 for who has its library for Python (`pip install cvc5`) and not its program: reads SMT-LIB, writes answers."""

import re
import sys

import cvc5


def started():
    solver = cvc5.Solver(manager)
    for argument in sys.argv[1:]:
        name, _, value = argument.removeprefix("--").partition("=")
        if value:
            solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    return solver, parser, parser.getSymbolManager()


manager = cvc5.TermManager()
solver, parser, symbols = started()
command, depth = [], 0
for line in sys.stdin:
    # What is quoted opens and closes nothing.
    bare = re.sub(r'"[^"]*"|\|[^|]*\||;.*', "", line)
    depth += bare.count("(") - bare.count(")")
    command.append(line)
    if depth > 0:
        continue
    text, command = "".join(command), []
    if text.strip() == "(reset)":
        solver, parser, symbols = started()
        continue
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "stdin")
    while not (one := parser.nextCommand()).isNull():
        sys.stdout.write(str(one.invoke(solver, symbols)))
        sys.stdout.flush()
