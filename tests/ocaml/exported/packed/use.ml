let x = Pack.B.make Pack.A.first let all = [ Sys.opaque_identity x; Pack.B.one ]
