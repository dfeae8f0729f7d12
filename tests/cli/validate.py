#!/usr/bin/python3
"""validate.py SCHEMA LIST - are JSON files valid by definitions of a JSON Schema?

A line of LIST is NAME, LABEL and FILE with tabs between: FILE is to be valid by $defs/NAME.  For
each prints 'ok LABEL' or 'not ok LABEL: what is wrong, and where'.
"""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    SCHEMA = json.load(file)
DEFINITIONS = SCHEMA["$defs"]
VALIDATORS = {
    name: jsonschema.Draft202012Validator(
        {"$schema": SCHEMA["$schema"], "$ref": "#/$defs/" + name, "$defs": DEFINITIONS}
    )
    for name in DEFINITIONS
}


def what_is_wrong(name, path):
    try:
        with open(path, encoding="utf-8") as document:
            instance = json.load(document)
    except ValueError as error:
        return f"no JSON: {error}"
    error = next(VALIDATORS[name].iter_errors(instance), None)
    if error:
        return "/".join(map(str, error.absolute_path)) + ": " + error.message[:200]
    return None


with open(sys.argv[2], encoding="utf-8") as entries:
    for entry in entries:
        definition, label, written = entry.rstrip("\n").split("\t")
        wrong = what_is_wrong(definition, written)
        print(f"not ok {label}: {wrong}" if wrong else f"ok {label}", flush=True)
