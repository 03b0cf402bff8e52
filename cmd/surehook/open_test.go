package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func TestOpen_StartsABrowserOnATerminalOnly(t *testing.T) {
	t.Parallel()

	const page = "https://hooks.example.com/console/t/acme/endpoints/orders"
	for _, tt := range []struct {
		name  string
		args  []string
		width int
		fails bool
		want  string // the opened page
		said  string
	}{
		{name: "a terminal", width: 80, want: page},
		{name: "no terminal"},
		{name: "print", args: []string{"--print"}, width: 80},
		{name: "no browser", width: 80, fails: true, want: page, said: "no browser opened: none here\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			env := map[string]string{envURL: "https://hooks.example.com/", envTenant: "acme"}
			var out, errs bytes.Buffer
			opened := ""
			p := &program{
				In: strings.NewReader(""), Out: &out, Err: &errs, Width: func() int { return tt.width },
				Lookup: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
				Home:   func() (string, error) { return t.TempDir(), nil },
				Browse: func(_ context.Context, address string) error {
					opened = address
					if tt.fails {
						return errors.New("none here")
					}
					return nil
				},
			}
			code := p.run(t.Context(), append([]string{"open", "orders"}, tt.args...))
			if code != exitOK || out.String() != page+"\n" || opened != tt.want || errs.String() != tt.said {
				t.Errorf("open = %d, printed %q, said %q, opened %q; want the page, %q and %q", code, out.String(), errs.String(), opened, tt.said, tt.want)
			}
		})
	}
}
