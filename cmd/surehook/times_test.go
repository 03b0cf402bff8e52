package main

import (
	"strings"
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	t.Parallel()

	zone := time.FixedZone("", 2*60*60)
	now := time.Date(2026, 11, 26, 10, 30, 15, 5e8, zone)
	tests := []struct {
		text string
		step time.Duration
		want string // empty: refused
	}{
		{text: "1h", want: "2026-11-26T07:30:15Z"},
		{text: "90s", want: "2026-11-26T08:28:45Z"},
		{text: "1h30m", want: "2026-11-26T07:00:15Z"},
		{text: "2d", want: "2026-11-24T08:30:15Z"},
		{text: "1d12h", want: "2026-11-24T20:30:15Z"},
		{text: "0s", want: "2026-11-26T08:30:15Z"},
		{text: "1h", step: time.Hour, want: "2026-11-26T07:00:00Z"},
		{text: "today", want: "2026-11-25T22:00:00Z"},
		{text: "yesterday", want: "2026-11-24T22:00:00Z"},
		{text: "00:00", want: "2026-11-25T22:00:00Z"},
		{text: "10:30", want: "2026-11-26T08:30:00Z"},
		{text: "10:31", want: "2026-11-25T08:31:00Z"}, // today's is still to come
		{text: "10:29", step: time.Hour, want: "2026-11-26T08:00:00Z"},
		{text: "10:45", step: time.Hour, want: "2026-11-25T08:00:00Z"}, // today's is still to come, but not its whole hour
		{text: "2026-11-01T00:00:00Z", want: "2026-11-01T00:00:00Z"},
		{text: "2026-11-01T00:30:00.123+02:00", step: time.Hour, want: "2026-10-31T22:30:00.123Z"}, // as written
		{text: "-1h"},
		{text: "-1d"},
		{text: "1d-1h"},
		{text: "d"},
		{text: "1"},
		{text: "99999d"},
		{text: "24:00"},
		{text: "tomorrow"},
		{text: "2026-11-01"},
		{text: ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()

			step := tt.step
			if step == 0 {
				step = time.Second
			}
			m := moment{now: func() time.Time { return now }, step: step}
			err := m.Set(tt.text)
			if got := m.String(); got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("Set(%q) = %q, %v; want %q", tt.text, got, err, tt.want)
			}
			if tt.want == "" && !strings.Contains(err.Error(), "yesterday") {
				t.Errorf("Set(%q) = %v; want an error that says what the flag takes", tt.text, err)
			}
		})
	}
}

// Today began at midnight, even if the clock has been changed since then.
func TestParseMoment_beginsADayOf25HoursAtMidnight(t *testing.T) {
	t.Parallel()

	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	now := time.Date(2026, 10, 25, 12, 0, 0, 0, berlin)
	for text, want := range map[string]string{"today": "2026-10-24T22:00:00Z", "yesterday": "2026-10-23T22:00:00Z", "11:00": "2026-10-25T10:00:00Z"} {
		if at, err := parseMoment(text, now, time.Second); err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("parseMoment(%s) = %s, %v; want %s", text, at, err, want)
		}
	}
}

func TestRelative(t *testing.T) {
	t.Parallel()

	const day = 24 * time.Hour
	now := time.Date(2026, 11, 26, 10, 30, 0, 0, time.UTC)
	for want, d := range map[string]time.Duration{
		"now":      999 * time.Millisecond,
		"1s ago":   time.Second,
		"59s ago":  59*time.Second + 999*time.Millisecond,
		"1m ago":   time.Minute,
		"59m ago":  time.Hour - 1,
		"1h ago":   time.Hour,
		"47h ago":  2*day - 1,
		"2d ago":   2 * day,
		"364d ago": 365*day - 1,
		"1y ago":   365 * day,
		"in 2h":    -2 * time.Hour,
		"in 30s":   -30 * time.Second,
	} {
		if got := relative(now.Add(-d), now); got != want {
			t.Errorf("relative(%s) = %s; want %s", d, got, want)
		}
	}
}
