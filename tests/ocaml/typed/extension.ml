(* Loaded with Dynlink. *)
open Truth

type gadget = { serial : int; parts : part list; maker : string option }
and part = Screw of string | Wheel of { spokes : int; rim : string } | Sub of gadget

let text i = "text " ^ string_of_int i

let rec gadget n =
  {
    serial = n;
    parts = (if n = 0 then [ Screw (text n) ] else [ Wheel { spokes = n; rim = text n }; Sub (gadget (n - 1)) ]);
    maker = (if n mod 2 = 0 then Some (text n) else None);
  }

let gadgets = List.init 8 gadget
let by_serial : (int, gadget) Hashtbl.t = Hashtbl.create 8
let numbers = ref { Bag_api.content = List.init 30 (fun i -> (i, text i)); label = text 30 }

let rec gadget_ty =
  lazy
    (typ "Extension.gadget" (fun { parts; maker; _ } ->
         [ parts @: list (Lazy.force part_ty); maker @: option string ]))

and part_ty =
  lazy
    (typ "Extension.part" (function
      | Screw s -> [ s @: string ]
      | Wheel { rim; _ } -> [ rim @: string ]
      | Sub g -> [ g @: Lazy.force gadget_ty ]))

let () =
  List.iter (fun g -> Hashtbl.replace by_serial g.serial g) gadgets;
  Bag_api.strings.content <- List.init 20 text;
  Bag_api.shown :=
    (fun () ->
      [
        gadgets @: list (Lazy.force gadget_ty); by_serial @: hashtbl int (Lazy.force gadget_ty);
        !numbers @: Bag_api.bag_ty (pair int string);
      ])
    :: !Bag_api.shown
