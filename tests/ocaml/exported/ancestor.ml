class ['a] base (seed : 'a) =
  object
    val items = [ seed ]
    val mutable count = (0 : int)
    method items = items
    method count = count
  end
