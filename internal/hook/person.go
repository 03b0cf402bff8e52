package hook

import "strings"

// MaxPersonName bounds the name in a PersonID, in bytes.
const MaxPersonName = 128

// personPrefix marks the KeyID of a person; no id of an API key begins with it.
const personPrefix = "user:"

// PersonID returns the KeyID of a person who signed in, with the person's name in clear:
// the id stands in lists and records where an API key has its own.
func PersonID(name string) KeyID { return KeyID(personPrefix + name) }

// ValidPersonName reports whether the text can be the name in a PersonID: 1 to
// MaxPersonName printable ASCII characters, without spaces, quotes, commas, backslashes
// and angle brackets. Fields of the access log end at a space.
func ValidPersonName(text string) bool {
	return text != "" && len(text) <= MaxPersonName &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`,\\<>", r) })
}

// IsPerson reports whether the id is of a person and not of an API key.
func (id KeyID) IsPerson() bool { return strings.HasPrefix(string(id), personPrefix) }

// credential names what the caller presented, for messages.
func (id KeyID) credential() string {
	if id.IsPerson() {
		return "the sign-in"
	}
	return "the API key"
}
