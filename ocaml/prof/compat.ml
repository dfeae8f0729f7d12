(* What differs between versions of compiler-libs.  Each part comes in several files, of which the
   build chooses one; its suffix is the first version that it is for. *)

include Compat_types
include Compat_modules
include Compat_trees
