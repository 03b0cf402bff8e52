package hook

// ValidPattern reports whether s can be a pattern of event types, such as
// endpoints subscribe with.
func ValidPattern(s string) bool { return subscription.MatchString(s) }
