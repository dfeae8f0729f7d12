# format.awk exe.prof - what is wrong with it: numbers that are not dense or not defined, kinds of
# records that docs/exe-prof.md does not have, a wrong count of lines.
function wrong(what) { print FNR ": " what ": " $0 }
function dense(kind, n) { if (n != count[kind]++) wrong("not the next number of " kind) }
# Terms in the fields from 'from' on, as T, NAME:T, NAME:mT.
function uses(from,   i, p, n) {
	for (i = from; i <= NF; i++) {
		if ($i == "=" || $i == ";") continue
		n = split($i, p, ":")
		if (n > 2) wrong("a field")
		sub(/^m/, "", p[n])
		use("t", p[n])
	}
}
function use(kind, n) {
	if (n !~ /^[0-9]+$/) wrong("not a number of " kind)
	else if (n + 0 > most[kind] + 0) most[kind] = n
}
# Where something is defined: FILE:LINE or '-'.
function place(s,   p) {
	if (s == "-") return
	if (s !~ /^[0-9]+:[1-9][0-9]*$/) wrong("a place")
	split(s, p, ":")
	use("f", p[1])
}
BEGIN { FS = " " }
FNR == 1 { if ($0 !~ /^hgprof 1 ocaml [0-9.~+a-z]+ word 64$/) wrong("the first line"); next }
ended { wrong("behind the last line") }
/^ | $|  / { wrong("spaces") }
$1 == "u" { if (NF != 7 || $3 !~ /^([0-9a-f]+|-)$/ || $6 !~ /^(cmt|cmi|none)$/ || $7 !~ /^(own|lib)$/) wrong("a unit"); next }
{ after_tuple = tuple; tuple = 0 }
$1 == "t" {
	dense("t", $2)
	if ($3 == "c") { use("D", $4); uses(5) }
	else if ($3 == "T") { uses(4); tuple = NF - 3 }
	else if ($3 == "F") { if (NF != 6) wrong("a function"); uses(5) }
	else if ($3 == "M") use("m", $4)
	else if ($3 == "O") uses(4)
	else if ($3 == "P") { for (i = 4; i <= NF; i++) if (split($i, p, ":") == 2) use("t", p[2]) }
	else if ($3 !~ /^[?ev]$/) wrong("a kind of term")
	next
}
$1 == "l" { if (NF - 1 != after_tuple) wrong("labels"); next }
$1 == "D" {
	if (left) wrong("constructors are missing")
	dense("D", $2)
	if ($4 !~ /^[0-9]+\/[0-9]+\/[01]$/) wrong("a declaration")
	if ($5 == "A" || $5 == "E") uses(6)
	else if ($5 == "R" || $5 == "FR") uses(6)
	else if ($5 == "U") uses(7)
	else if ($5 == "V") left = $6
	else if ($5 !~ /^[BXO]$/) wrong("a kind of declaration")
	next
}
$1 == "k" { if (left-- <= 0 || $3 !~ /^[cbr]$/) wrong("a constructor"); uses(4); next }
$1 == "m" { dense("m", $2); uses(4); next }
$1 == "g" { if ($3 > NF - 3) wrong("a block"); block = $2; size = NF - 3; uses(4); next }
$1 == "d" { if ($2 != block || NF - 2 != size) wrong("definitions"); for (i = 3; i <= NF; i++) place($i); next }
$1 == "v" { if (NF != 5) wrong("a value"); use("t", $4); place($5); next }
$1 == "x" { uses(3); next }
$1 == "C" { for (i = 3; i <= NF && $i != ";"; i++); uses(i); next }
$1 == "f" { dense("f", $2); next }
$1 == "F" {
	dense("F", $2); use("f", $5)
	n = split($12, p, ",")
	for (i = 1; i <= n && $12 != "-"; i++) use("t", p[i])
	uses(13)
	next
}
$1 == "G" {
	if ($2 != count["F"] - 1) wrong("not of the function before")
	use("t", $3)
	uses(4)
	next
}
$1 == "L" {
	use("f", $2)
	if ($8 !~ /^@(-1|[0-9]+)$/) wrong("a function around")
	else if (substr($8, 2) + 0 >= count["F"] + 0) wrong("a function that is not there yet")
	if (NF < 9) wrong("a place without types")
	uses(9)
	next
}
$1 == "z" { if ($2 != FNR - 1) wrong("the count of lines"); ended = 1; next }
{ wrong("a record") }
END {
	if (!ended) print "cut short"
	for (kind in most) if (most[kind] >= count[kind]) print kind " " most[kind] " is not defined"
}
