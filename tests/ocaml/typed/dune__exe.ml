module Prices = Dune__exe__Prices
module Store = Dune__exe__Store
