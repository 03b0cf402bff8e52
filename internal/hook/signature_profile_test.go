package hook_test

import (
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

func TestSignatureProfile_Check(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		change  func(*hook.SignatureProfile)
		field   string // that is wrong; empty: none
		warning string
	}{
		{name: "all is well", change: func(*hook.SignatureProfile) {}},
		{name: "a name with a capital", change: func(p *hook.SignatureProfile) { p.Name = "Own" }, field: "own"},
		{name: "nothing is signed", change: func(p *hook.SignatureProfile) { p.Signed = "" }, field: "own.signed"},
		{name: "no body is signed", change: func(p *hook.SignatureProfile) { p.Signed = "{timestamp}" }, field: "own.signed"},
		{name: "the body twice", change: func(p *hook.SignatureProfile) { p.Signed = "{timestamp}{body}{body}" }, field: "own.signed"},
		{name: "an unknown place", change: func(p *hook.SignatureProfile) { p.Signed = "{timestamp}{body}{secret}" }, field: "own.signed"},
		{name: "the type is not signed", change: func(p *hook.SignatureProfile) { p.Signed = "{timestamp}{body}{type}" }, field: "own.signed"},
		{name: "MD5", change: func(p *hook.SignatureProfile) { p.Algorithm = "md5" }, field: "own.algorithm"},
		{name: "SHA-1", change: func(p *hook.SignatureProfile) { p.Algorithm = "sha1" }, warning: "SHA-1"},
		{name: "no time", change: func(p *hook.SignatureProfile) { p.Signed = "{body}" }, warning: "time"},
		{name: "parts that touch", change: func(p *hook.SignatureProfile) { p.Signed = "{timestamp}{body}" }, warning: "without a separator"},
		{name: "an unknown encoding", change: func(p *hook.SignatureProfile) { p.Encoding = "base32" }, field: "own.encoding"},
		{name: "an unknown key", change: func(p *hook.SignatureProfile) { p.Key = "" }, field: "own.key"},
		{name: "a line break in the prefix", change: func(p *hook.SignatureProfile) { p.Prefix = "a\r\n" }, field: "own.prefix"},
		{name: "a space after the prefix", change: func(p *hook.SignatureProfile) { p.Prefix = "v1= " }, field: "own.prefix"},
		{name: "a place in the prefix", change: func(p *hook.SignatureProfile) { p.Prefix = "{id}" }, field: "own.prefix"},
		{name: "a separator of signatures", change: func(p *hook.SignatureProfile) { p.Separator = "ab" }, field: "own.separator"},
		{name: "a separator of base64", change: func(p *hook.SignatureProfile) { p.Separator = "+" }, field: "own.separator"},
		{name: "a separator with a space", change: func(p *hook.SignatureProfile) { p.Separator = ", " }},
		{name: "a place in the separator", change: func(p *hook.SignatureProfile) { p.Separator = ",{id}" }, field: "own.separator"},
		{name: "parts with digits between", change: func(p *hook.SignatureProfile) { p.Signed = "{timestamp}0{body}" }, warning: "without a separator"},
		{name: "a space after a header", change: func(p *hook.SignatureProfile) { p.Headers["X-B"] = "b " }, field: "own.headers.X-B"},
		{name: "a header that CGI reads as another", change: func(p *hook.SignatureProfile) { p.Headers["X_A"] = "b" }, field: "own.headers"},
		{name: "no header", change: func(p *hook.SignatureProfile) { p.Headers = nil }, field: "own.headers"},
		{name: "no signature", change: func(p *hook.SignatureProfile) { p.Headers = map[string]string{"X-A": "{timestamp}"} }, field: "own.headers"},
		{name: "the signature twice", change: func(p *hook.SignatureProfile) { p.Headers["X-B"] = "{signature}" }, field: "own.headers"},
		{name: "a signed time that no header has", change: func(p *hook.SignatureProfile) { p.Headers = map[string]string{"X-A": "{signature}"} }, field: "own.headers"},
		{name: "a signed id that no header has", change: func(p *hook.SignatureProfile) { p.Signed += "{id}" }, field: "own.headers"},
		{name: "the body in a header", change: func(p *hook.SignatureProfile) { p.Headers["X-B"] = "{body}" }, field: "own.headers.X-B"},
		{name: "a header of HTTP", change: func(p *hook.SignatureProfile) { p.Headers["Content-Length"] = "1" }, field: "own.headers.Content-Length"},
		{name: "a header of proxies", change: func(p *hook.SignatureProfile) { p.Headers["X-Forwarded-For"] = "1" }, field: "own.headers.X-Forwarded-For"},
		{name: "a header of every request", change: func(p *hook.SignatureProfile) { p.Headers["X-Webhook-Event"] = "{type}" }, field: "own.headers.X-Webhook-Event"},
		{name: "the header of an authentication", change: func(p *hook.SignatureProfile) { p.Headers["Authorization"] = "{id}" }, field: "own.headers.Authorization"},
		{name: "a header for signatures", change: func(p *hook.SignatureProfile) { p.Headers["X-Webhook-Id"] = "{id}" }},
		{name: "a line break in a header", change: func(p *hook.SignatureProfile) { p.Headers["X-B"] = "a\nb" }, field: "own.headers.X-B"},
		{name: "one header in two ways", change: func(p *hook.SignatureProfile) { p.Headers["x-a"] = "b" }, field: "own.headers"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			p := hook.SignatureProfile{
				Name: "own", Signed: "{timestamp}.{body}", Algorithm: "sha256", Encoding: "hex", Key: "text", Prefix: "v1=",
				Headers: map[string]string{"X-A": "{timestamp} {signature}"},
			}
			tt.change(&p)
			wrong, warnings := p.Check("own")
			if got := fieldsOf(wrong); tt.field == "" && len(got) > 0 || tt.field != "" && !slices.Contains(got, tt.field) {
				t.Errorf("Check() = %v; want %q", wrong, tt.field)
			}
			if !strings.Contains(strings.Join(warnings, "\n"), tt.warning) || tt.warning == "" && len(warnings) > 0 && tt.field == "" {
				t.Errorf("Check() warns %q; want %q", warnings, tt.warning)
			}
		})
	}
}

func fieldsOf(errs []hook.FieldError) []string {
	fields := make([]string, len(errs))
	for i, e := range errs {
		fields[i] = e.Field
	}
	return fields
}
