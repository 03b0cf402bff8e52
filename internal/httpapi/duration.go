package httpapi

import (
	"time"

	"surehook/internal/hook"
)

const durationForm = `must be a duration with units, such as "90s" or "24h"`

// duration is a time.Duration in JSON: a string with units such as "1m30s", in
// the grammar of time.ParseDuration.
type duration time.Duration

// MarshalText writes the duration without needless zeros.
func (d duration) MarshalText() ([]byte, error) {
	return []byte(hook.FormatDuration(time.Duration(d))), nil
}

// UnmarshalText is the inverse of MarshalText.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return wrong(durationForm)
	}
	*d = duration(parsed)
	return nil
}

// stamp is a time in JSON: RFC 3339 in UTC with milliseconds.
type stamp time.Time

// MarshalText writes the time.
func (s stamp) MarshalText() ([]byte, error) {
	return []byte(time.Time(s).UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

// IsZero reports whether there is no such time.
func (s stamp) IsZero() bool { return time.Time(s).IsZero() }
