package hook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

func TestAuth_Authorization(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		auth   hook.Auth
		secret string
		want   string
	}{
		{name: "none", auth: hook.Auth{}, secret: "", want: ""},
		{name: "the example of RFC 7617, section 2", auth: hook.Auth{Type: hook.AuthBasic, Username: "Aladdin"}, secret: "open sesame", want: "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
		{name: "the example of RFC 7617, section 2.1", auth: hook.Auth{Type: hook.AuthBasic, Username: "test"}, secret: "123£", want: "Basic dGVzdDoxMjPCow=="},
		{name: "an access token", auth: hook.Auth{Type: hook.AuthOAuth2}, secret: "t", want: "Bearer t"},
		{name: "the example of RFC 6750, section 2.1", auth: hook.Auth{Type: hook.AuthBearer}, secret: "mF_9.B5f-4.1JqM", want: "Bearer mF_9.B5f-4.1JqM"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.auth.Authorization(tt.secret); got != tt.want {
				t.Errorf("Authorization(%s) = %q; want %q", tt.secret, got, tt.want)
			}
		})
	}
}

// A ciphertext belongs to one type: AuthSecret finds no secret in the text of another type, of a
// header or of a signing secret.
func TestAuthSecret_ofAnotherText(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		hook.AuthText(hook.AuthBearer, "t"): true, hook.AuthText(hook.AuthBasic, "t"): false, hook.HeaderText("Authorization", "t"): false,
		hook.HeaderText("auth", "bearer: t"): false, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": false,
	} {
		if secret, ok := hook.AuthSecret(hook.AuthBearer, text); ok != want || ok && secret != "t" {
			t.Errorf("AuthSecret(%q) = %q, %t; want %t", text, secret, ok, want)
		}
	}
}

func TestValidateEndpoint_auth(t *testing.T) {
	t.Parallel()

	basic := func(username, password string) hook.Auth {
		return hook.Auth{Type: hook.AuthBasic, Username: username, Secret: password}
	}
	oauth := func(secret string, o hook.OAuth) hook.Auth {
		return hook.Auth{Type: hook.AuthOAuth2, OAuth: o, Secret: secret}
	}
	tests := []struct {
		name string
		auth hook.Auth
		want []string // the wrong fields
	}{
		{name: "none", auth: hook.Auth{}, want: nil},
		{name: "basic", auth: basic("u", "a:b c"), want: nil},
		{name: "the longest", auth: basic(strings.Repeat("u", hook.MaxAuthUsername), strings.Repeat("p", hook.MaxAuthPassword)), want: nil},
		{name: "too long", auth: basic(strings.Repeat("u", hook.MaxAuthUsername+1), strings.Repeat("p", hook.MaxAuthPassword+1)), want: []string{"auth.username", "auth.password"}},
		{name: "control characters", auth: basic("u\n", "p\x00"), want: []string{"auth.username", "auth.password"}},
		{name: "a colon", auth: basic("u:v", "p"), want: []string{"auth.username"}},
		{name: "nothing", auth: hook.Auth{Type: hook.AuthBasic}, want: []string{"auth.username", "auth.password"}},
		{name: "a mask of nothing", auth: basic("u", hook.Masked), want: []string{"auth.password"}},
		{name: "a sealed password", auth: hook.Auth{Type: hook.AuthBasic, Username: "u", Sealed: []byte{1}}, want: nil},
		{name: "bearer", auth: hook.Auth{Type: hook.AuthBearer, Secret: strings.Repeat("~", hook.MaxAuthToken)}, want: nil},
		{name: "a long token", auth: hook.Auth{Type: hook.AuthBearer, Secret: strings.Repeat("~", hook.MaxAuthToken+1)}, want: []string{"auth.token"}},
		{name: "a space", auth: hook.Auth{Type: hook.AuthBearer, Secret: "a b"}, want: []string{"auth.token"}},
		{name: "a line break", auth: hook.Auth{Type: hook.AuthBearer, Secret: "a\r\nX-Other: b"}, want: []string{"auth.token"}},
		{name: "no token", auth: hook.Auth{Type: hook.AuthBearer}, want: []string{"auth.token"}},
		{name: "oauth2", auth: oauth("hush :", hook.OAuth{TokenURL: "https://id.example.com/", ClientID: "a b:"}), want: nil},
		{name: "oauth2 with everything", auth: oauth("s", hook.OAuth{TokenURL: "u", ClientID: "c", Scope: "a:b c/d !", Audience: "https://x/", InBody: true}), want: nil},
		{name: "the longest client", auth: oauth(strings.Repeat("s", hook.MaxAuthToken), hook.OAuth{TokenURL: "u", ClientID: strings.Repeat("c", hook.MaxClientID), Scope: strings.Repeat("s", hook.MaxOAuthScope), Audience: strings.Repeat("a", hook.MaxOAuthScope)}), want: nil},
		{name: "too long a client", auth: oauth(strings.Repeat("s", hook.MaxAuthToken+1), hook.OAuth{TokenURL: "u", ClientID: strings.Repeat("c", hook.MaxClientID+1), Scope: strings.Repeat("s", hook.MaxOAuthScope+1), Audience: strings.Repeat("a", hook.MaxOAuthScope+1)}), want: []string{"auth.client_id", "auth.client_secret", "auth.scope", "auth.audience"}},
		{name: "no client", auth: oauth("", hook.OAuth{}), want: []string{"auth.token_url", "auth.client_id", "auth.client_secret"}},
		{name: "characters outside of RFC 6749", auth: oauth("ü", hook.OAuth{TokenURL: "u", ClientID: "c\n", Scope: "a  b", Audience: "a b"}), want: []string{"auth.client_id", "auth.client_secret", "auth.scope", "auth.audience"}},
		{name: "a quote in the scope", auth: oauth("s", hook.OAuth{TokenURL: "u", ClientID: "c", Scope: `a"`}), want: []string{"auth.scope"}},
		{name: "a sealed client secret", auth: hook.Auth{Type: hook.AuthOAuth2, OAuth: hook.OAuth{TokenURL: "u", ClientID: "c"}, Sealed: []byte{1}}, want: nil},
		{name: "a mask of no client secret", auth: oauth(hook.Masked, hook.OAuth{TokenURL: "u", ClientID: "c"}), want: []string{"auth.client_secret"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var got []string
			for _, e := range hook.ValidateEndpoint(hook.Endpoint{Auth: tt.auth}) {
				if strings.HasPrefix(e.Field, "auth.") {
					got = append(got, e.Field)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("wrong fields (-want +got):\n%s", diff)
			}
		})
	}
}
