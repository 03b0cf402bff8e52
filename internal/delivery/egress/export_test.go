package egress

// Control is control, for tests without a dial.
func (p Policy) Control(host, address string) error { return p.control(host, address) }
