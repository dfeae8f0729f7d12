type s
val make : A.t -> s
val one : s
