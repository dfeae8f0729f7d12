# Compares what a program says of its blocks with what heapgraph says:
#   awk -f compare.awk -v program=NAME typed/exceptions SAID OBJECTS
# OBJECTS: lines 'address tag words segment reachable type', separated by tabs.  Writes a line for
# each block that is not right: 'WHAT address wanted got', and at the end one for each type that was
# wanted, 'TYPE right sets vague unknown wrong type', and one 'EXCEPTION count most type'.
#
# right: exactly the type, or one of several that the program names.  sets: several types, all of
# which the program names (constants that the compiler shares).  vague: the type with '_' in places, or
# with several types there, with the methods of a class instead of its name, or what only the tag tells.
# unknown: no type at all.  Anything else is wrong, no block at the address too.

BEGIN { FS = OFS = "\t" }

# Splits 'A | B' within the outermost parentheses; nothing if it is no set.
function alternatives(type, parts,    n, i, c, depth, start) {
	n = 0
	if (type !~ /^\(.* \| .*\)$/)
		return 0
	type = substr(type, 2, length(type) - 2)
	depth = 0; start = 1
	for (i = 1; i <= length(type); i++) {
		c = substr(type, i, 1)
		if (c == "(" || c == "[" || c == "<") depth++
		else if (c == ")" || c == "]" || (c == ">" && substr(type, i - 1, 1) != "-")) depth--
		else if (depth == 0 && substr(type, i, 3) == " | ") {
			parts[++n] = substr(type, start, i - start)
			start = i + 3
		}
	}
	parts[++n] = substr(type, start)
	for (i = 1; i <= n; i++)
		if (parts[i] ~ /^\([^()]* (\*|->) [^()]*\)$/)
			parts[i] = substr(parts[i], 2, length(parts[i]) - 2)
	return n > 1 ? n : 0
}

# Without the methods of objects.
function without_methods(type,    from, i, c, depth) {
	while ((from = index(type, "< ")) > 0) {
		depth = 0
		for (i = from; i <= length(type); i++) {
			c = substr(type, i, 1)
			if (c == "<") depth++
			else if (c == ">" && substr(type, i - 1, 1) != "-" && --depth == 0) break
		}
		type = substr(type, 1, from - 1) "_" substr(type, i + 1)
	}
	return type
}

# Whether 'got' is 'wanted' with _ in some places, or "(int | string)" for one of these.
function vaguer(got, wanted,    pattern, set) {
	pattern = without_methods(got)
	while (match(pattern, /\([^()]+ \| [^()]+\)/) && RLENGTH < length(pattern)) {
		set = substr(pattern, RSTART + 1, RLENGTH - 2)
		gsub(/ \| /, "\002", set)
		pattern = substr(pattern, 1, RSTART - 1) "\001" set "\003" substr(pattern, RSTART + RLENGTH)
	}
	if (pattern !~ /(^|[ (])_|\001/)
		return 0
	gsub(/[][(){}.*+?|^$\\]/, "\\\\&", pattern)
	pattern = " " pattern " "
	while (match(pattern, /[ (]_[ ),\\]/))
		pattern = substr(pattern, 1, RSTART) ".+" substr(pattern, RSTART + 2)
	sub(/^ /, "", pattern)
	sub(/ $/, "", pattern)
	gsub("\001", "(", pattern)
	gsub("\002", "|", pattern)
	gsub("\003", ")", pattern)
	return wanted ~ ("^" pattern "$")
}

function judge(got, wanted, tag,    n, i, m, parts, types, found) {
	if (got == "")
		return "unknown"
	n = split(wanted, types, " or ")
	for (i = 1; i <= n; i++)
		if (types[i] == got)
			return "right"
	# One constant of a functor's body is of all its instances: in bytecode it has the body's type.
	if (n > 1 && wanted ~ /^Modules\..*_counter\.t or / && got == "Modules.Counter.t")
		return "vague"
	m = alternatives(got, parts)
	found = 0
	for (i = 1; i <= m; i++)
		found += index(" or " wanted " or ", " or " parts[i] " or ") > 0
	if (m && found == m)
		return "sets"
	if ((tag == 254 && got == "floatarray") || (tag == 252 && got == "string"))
		return "vague"
	for (i = 1; i <= n; i++)
		if (vaguer(got, types[i]))
			return "vague"
	return "wrong"
}

FILENAME ~ /exceptions$/ {
	if ($0 !~ /^#/ && $1 == program)
		most[$3] = $2
	next
}

/^TYPE-TRUTH / {
	split($0, word, " ")
	wanted[word[2]] = substr($0, length(word[1] word[2]) + 3)
	order[++count] = word[2]
	next
}

FILENAME ~ /said$/ { next }

$1 in wanted {
	type_of[$1] = $6
	tag_of[$1] = $2
	where[$1] = $4
	alive[$1] = $5
}

END {
	for (i = 1; i <= count; i++) {
		address = order[i]
		type = wanted[address]
		if (!(address in type_of))
			what = "missing"
		else if (alive[address] != 1)
			what = "unreached"
		else
			what = judge(type_of[address], type, tag_of[address])
		if (what == "sets" && where[address] == "heap" && type !~ / or /)
			what = "wrong"
		if (what == "vague" || what == "unknown")
			excused[type]++
		if (what != "right")
			print toupper(what), address, type, type_of[address]
		counts[type, what]++
		if (!(type in seen)) {
			seen[type] = 1
			types_in_order[++type_count] = type
		}
	}
	for (i = 1; i <= type_count; i++) {
		type = types_in_order[i]
		printf "TYPE\t%d\t%d\t%d\t%d\t%d\t%s\n", counts[type, "right"], counts[type, "sets"],
			counts[type, "vague"], counts[type, "unknown"],
			counts[type, "wrong"] + counts[type, "missing"] + counts[type, "unreached"], type
		if (excused[type] > 0)
			printf "EXCUSED\t%d\t%d\t%s\n", excused[type], most[type] + 0, type
	}
}
