package hook

import (
	"strings"

	"github.com/gofrs/uuid/v5"
)

// The suffix of a TypeID is a UUID as a base32 number of 26 characters, with the 2 spare bits
// in front (https://github.com/jetify-com/typeid/tree/main/spec). Package base32 puts spare
// bits at the end, so 4 zero bytes in front of the UUID make 6 whole characters, which are cut
// off.
const (
	typeIDLen   = 26
	typeIDFront = "000000"
	typeIDZeros = 4 // bytes
)

// typeID returns the prefix and the suffix of the UUID.
func typeID(prefix string, id uuid.UUID) string {
	var (
		wide [typeIDZeros + uuid.Size]byte
		text [len(typeIDFront) + typeIDLen]byte
	)
	copy(wide[typeIDZeros:], id[:])
	crockford.Encode(text[:], wide[:])
	return prefix + string(text[len(typeIDFront):])
}

// parseTypeID is the inverse of typeID.
func parseTypeID(prefix, text string) (id uuid.UUID, ok bool) {
	suffix, ok := strings.CutPrefix(text, prefix)
	if !ok || len(suffix) != typeIDLen || suffix[0] > '7' { // more than 128 bits
		return id, false
	}
	var (
		whole [len(typeIDFront) + typeIDLen]byte
		wide  [typeIDZeros + uuid.Size]byte
	)
	copy(whole[copy(whole[:], typeIDFront):], suffix)
	n, err := crockford.Decode(wide[:], whole[:])
	if err != nil || n != len(wide) { // fewer bytes: base32 skips line breaks
		return id, false
	}
	return uuid.UUID(wide[typeIDZeros:]), true
}
