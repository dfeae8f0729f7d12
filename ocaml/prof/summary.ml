(* What could not be found, and what does not go together. *)

let names list = Messages.some (List.sort_uniq compare list)

let says list what = if list <> [] then Messages.say "%s: %s" what (names list)

let print output units =
  let is_missing (u : Units.t) = u.interface = None && u.implementation = None in
  let of_kind p = List.map (fun (u : Units.t) -> u.name) (List.filter p units) in
  let mine list = List.filter (fun name -> List.exists (fun (u : Units.t) -> u.name = name) units) list in
  says (mine !Load.changed) "sources have changed since they were compiled";
  says (mine !Load.mismatched) "compiled with different interfaces of the same unit; build again";
  if !Load.executable = None then
    says (mine !Load.duplicated)
      "several units of one name; the first one is taken, --exe FILE chooses";
  (match !Load.executable with
  | None -> ()
  | Some exe ->
      says
        (of_kind (fun u -> not (Executable.agrees exe u.name u.crc)))
        ("of another interface than in " ^ exe.path));
  says (of_kind Load.is_incomplete)
    "only interfaces were found, no .cmt as 'dune build @check' or -bin-annot makes them";
  says (of_kind is_missing) "nothing was found of";
  Messages.detail "%s: %d units, %d of them with their .cmt; %d terms, %d declarations, %d layouts"
    output (List.length units)
    (List.length (of_kind (fun u -> u.implementation <> None)))
    Terms.terms.count Terms.decls.count Terms.layouts.count
