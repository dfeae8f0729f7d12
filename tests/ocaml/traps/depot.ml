module Lot = Depot__Lot
module Yard = Depot__Yard
