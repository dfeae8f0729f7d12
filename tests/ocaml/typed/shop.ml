module Item = Shop__Item
module Order = Shop__Order
