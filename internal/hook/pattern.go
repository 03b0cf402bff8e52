package hook

// ValidPattern reports whether s is a valid subscription pattern: an exact event
// type, a prefix such as "order.*", or "*".
func ValidPattern(s string) bool { return subscription.MatchString(s) }
