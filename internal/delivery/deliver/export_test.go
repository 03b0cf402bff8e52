package deliver

// With is with, for tests.
func (s Snapshot) With(later Snapshot) Snapshot { return s.with(later) }
