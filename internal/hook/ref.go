package hook

import "strings"

// ValidUID reports whether s can be an endpoint's uid: 1 to MaxUID letters,
// digits, underscores, dots and hyphens, without the prefix of endpoint ids, and
// not a dot segment.
func ValidUID(s string) bool {
	return isOf(s, nameChars, MaxUID) && !dotSegment(s) && !strings.HasPrefix(s, endpointPrefix)
}

// dotSegment reports whether s is a dot segment (RFC 3986, section 5.2.4). HTTP
// clients and proxies remove dot segments from paths, so such a name in a path
// would lead to another resource.
func dotSegment(s string) bool { return s == "." || s == ".." }

// ParseKeyID checks s.
func ParseKeyID(s string) (KeyID, error) {
	if suffix, ok := strings.CutPrefix(s, keyPrefix); !ok || !isSuffix(suffix) {
		return "", NotFound("key")
	}
	return KeyID(s), nil
}
