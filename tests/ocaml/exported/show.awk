# show.awk MODULE exe.prof - prints what exe.prof says of a module, with type terms written out: units,
# declarations, layouts, blocks of units, extension constructors, classes.  MODULE is the beginning of
# names, for places (L) the file, for definitions (d, v) the unit; -v records=gDkxC chooses kinds.  Two spaces are between fields.
function plain(s) {
	if (s == "%")
		return ""
	gsub(/%20/, " ", s); gsub(/%3a/, ":", s); gsub(/%3b/, ";", s); gsub(/%0a/, "\n", s)
	gsub(/%09/, "\t", s); gsub(/%25/, "%", s)
	return s
}
function args(from, w, n, depth,   i, s) {
	for (i = from; i <= n; i++)
		s = s (i > from ? ", " : "") term(w[i], depth)
	return s
}
function tag(part, depth, of,   p) {
	return split(part, p, ":") == 2 ? plain(p[1]) of term(p[2], depth) : plain(p[1])
}
function term(id, depth,   w, n, i, s, d) {
	if (depth > 8)
		return "..."
	if (!(id in terms))
		return "UNDEFINED"
	n = split(terms[id], w, " ")
	if (w[1] == "?") return "?"
	if (w[1] == "e") return "_"
	if (w[1] == "v") return "'" substr("abcdefgh", w[2] + 1, 1)
	if (w[1] == "M") return "module " layout_name[w[2]]
	if (w[1] == "T") return "(" args(2, w, n, depth + 1) ")"
	if (w[1] == "F") return "(" plain(w[2]) (w[2] == "%" ? "" : ":") term(w[3], depth + 1) " -> " term(w[4], depth + 1) ")"
	if (w[1] == "c") {
		d = decl_name[w[2]]
		if (n == 2) return d
		return (n == 3 ? "" : "(") args(3, w, n, depth + 1) (n == 3 ? " " : ") ") d
	}
	for (i = 2; i <= n; i++)
		s = s (i > 2 ? (w[1] == "P" ? " | " : "; ") : "") (w[1] == "P" ? "`" : "") tag(w[i], depth + 1, w[1] == "P" ? " of " : ": ")
	return w[1] == "P" ? "[" s "]" : "<" s ">"
}
# The fields from field 'from' on: NAME:TERM, NAME:mTERM.
function fields(line, from,   w, n, i, p, s, mutable) {
	n = split(line, w, " ")
	for (i = from; i <= n; i++) {
		if (w[i] == "=" || w[i] == ";") { s = s "  " w[i]; continue }
		if (split(w[i], p, ":") != 2) { s = s "  " (p[1] ~ /^[0-9]+$/ ? term(p[1], 0) : plain(p[1])); continue }
		mutable = sub(/^m/, "", p[2])
		s = s "  " (mutable ? "mutable " : "") plain(p[1]) ":" term(p[2], 0)
	}
	return s
}
function mine(name) { return index(plain(name), module) == 1 }
BEGIN { module = ARGV[1]; ARGV[1] = ""; if (!records) records = "gDkmxC" }
{ line[NR] = $0 }
$1 == "t" { id = $2; $1 = $2 = ""; sub(/^ +/, ""); terms[id] = $0; next }
$1 == "D" { decl_name[$2] = plain($3) }
$1 == "m" { layout_name[$2] = plain($3) }
$1 == "f" { file_name[$2] = plain($3) }
END {
	for (i = 1; i <= NR; i++) {
		n = split(line[i], w, " ")
		if (!index(records, w[1]) && w[1] != "D" && !(w[1] == "g" && index(records, "d"))) continue
		if (w[1] == "g" && mine(w[2]) && index(records, "g")) print "block " w[2] " " w[3] ":" fields(line[i], 4)
		if (w[1] == "g") for (j = 4; j <= n; j++) { split(w[j], p, ":"); field_name[w[2], j] = plain(p[1]) }
		if (w[1] == "d" && w[2] == module) for (j = 3; j <= n; j++) {
			s = split(w[j], p, ":") == 2 ? file_name[p[1]] ":" p[2] : w[j]
			print field_name[w[2], j + 1] " " s
		}
		if (w[1] == "v" && w[2] == module) {
			sub(/_[0-9]+$/, "", w[3])
			print plain(w[3]) " " (split(w[5], p, ":") == 2 ? file_name[p[1]] ":" p[2] : w[5])
		}
		if (w[1] == "x" && mine(w[2])) print "extension " w[2] ":" fields(line[i], 3)
		if (w[1] == "L" && file_name[w[2]] == module) print "place " w[3] ":" w[4] ":" fields(line[i], 9)
		if (w[1] == "C" && mine(w[2])) print "class " plain(w[2]) ":" fields(line[i], 3)
		if (w[1] == "F" && w[3] == module) { sub(/_[0-9]+$/, "", w[4]); print plain(w[4]) ":" fields(line[i], 13) }
		if (w[1] == "m" && mine(w[3])) print "layout " plain(w[3]) ":" fields(line[i], 4)
		if (w[1] == "D") {
			split(w[4], p, "/")
			shown = mine(w[3]) && index(records, "D")
			if (!shown) continue
			kind = w[5]
			if (kind == "A") kind = "= " term(w[6], 0)
			else if (kind == "U") kind = "unboxed " plain(w[6]) ":" term(w[7], 0)
			else if (kind == "O" || kind == "B" || kind == "V") kind = kind " " plain(w[6])
			else kind = kind fields(line[i], 6)
			print "type " plain(w[3]) " " p[1] (p[3] ? " instance" : "") " " kind
		}
		if (w[1] == "k" && shown) print "  " plain(w[2]) " " w[3] fields(line[i], 4)
	}
}
