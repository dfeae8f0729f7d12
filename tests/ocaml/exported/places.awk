# places.awk exe.prof FRAMES - how many of the places that allocate (frames.c) exe.prof has: "FOUND ALL",
# and those that it has not, on standard error.  FRAMES has 4 columns, clamped, or 5.
function path(s) { gsub(/%20/, " ", s); gsub(/%25/, "%", s); return s }
NR == FNR {
	if ($1 == "f") file[$2] = path($3)
	if ($1 == "L") {
		places[file[$2] "\t" $3 "\t" $4 "\t" $6 "\t" $7] = 1
		places[file[$2] "\t" $3 "\t" ($4 > 255 ? 255 : $4) "\t" ($5 > 1023 ? 1023 : $5)] = 1
	}
	next
}
$0 == "none" { next }
{
	all++
	if ($0 in places) found++
	else print > "/dev/stderr"
}
END { print found + 0, all + 0 }
