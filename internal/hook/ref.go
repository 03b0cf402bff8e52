package hook

import "strings"

// ValidUID reports whether s can be an endpoint's uid: 1 to MaxUID letters,
// digits, underscores, dots and hyphens, without the prefix of endpoint ids.
func ValidUID(s string) bool {
	return uidPattern.MatchString(s) && !strings.HasPrefix(s, endpointPrefix)
}

// ParseKeyID checks s.
func ParseKeyID(s string) (KeyID, error) {
	if suffix, ok := strings.CutPrefix(s, keyPrefix); !ok || !endpointSuffixPattern.MatchString(suffix) {
		return "", NotFound("key")
	}
	return KeyID(s), nil
}
