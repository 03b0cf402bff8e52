package hook

import "strings"

// ValidUID reports whether s can be an endpoint's uid.
func ValidUID(s string) bool {
	return uidPattern.MatchString(s) && !strings.HasPrefix(s, endpointPrefix)
}
