val twice : int ref



val table : (string, int) Hashtbl.t

exception Trouble of string

class counter : object method next : int end

module Inner : sig val hidden : int ref end
