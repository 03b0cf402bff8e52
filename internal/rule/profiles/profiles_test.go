package profiles_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/profiles"
)

const own = `{"signed": "{timestamp}.{body}", "algorithm": "sha256", "encoding": "hex", "key": "text", "headers": {"X-Acme": "t={timestamp},v1={signature}"}}`

func TestParse(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, text, want string }{
		{name: "none", text: ""},
		{name: "one", text: `{"acme": ` + own + `}`},
		{name: "two", text: `{"acme": ` + own + `, "older": ` + own + `}`},
		{name: "one twice", text: `{"acme": ` + own + `, "acme": ` + own + `}`, want: "duplicate"},
		{name: "more text", text: `{"acme": ` + own + `} {}`, want: "must be JSON"},
		{name: "no JSON", text: `acme`, want: "must be JSON"},
		{name: "an unknown member", text: `{"acme": {"sign": "{body}"}}`, want: "unknown"},
		{name: "a name of Surehook's", text: `{"github": ` + own + `}`, want: "is a profile of Surehook"},
		{name: "the name of the default", text: `{"standard": ` + own + `}`, want: "is a profile of Surehook"},
		{name: "a template that a text under standard can be", text: `{"acme": ` + strings.Replace(own, "{timestamp}.", "{id}.{timestamp}.v1", 1) + `}`, want: "of the profile standard"},
		{name: "two templates that one text fits", text: `{"acme": ` + strings.Replace(own, "{timestamp}.", "{url}", 1) + `, "older": ` + strings.Replace(own, "{timestamp}.", "{url}.", 1) + `}`, want: "of the profile older"},
		{name: "a weak algorithm", text: `{"acme": ` + strings.Replace(own, "sha256", "md5", 1) + `}`, want: "acme.algorithm"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			all, err := profiles.Parse([]byte(tt.text))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Parse() = %v; want %q", err, tt.want)
			}
			for name, p := range all {
				if p.Name != name || !p.Own() {
					t.Errorf("profile %s = %+v; want its name and definition", name, p)
				}
			}
		})
	}
}
