package egress_test

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
)

// What CheckURL returns for each problem.
const (
	fine     = ""
	scheme   = "must begin with https://"
	userinfo = "must not hold a user name or password"
	noHost   = "must name a host after https://"
	badURL   = "must be a URL such as https://example.com/hooks"
	escape   = "must have % only before two hex digits, and not in the host; write % itself as %25"
	badPort  = "must have a valid port or none"
	ports    = "must use port 443, 8443, 80 or 8080"
	reserved = "must not lead to a private, loopback or otherwise reserved address"
	plain    = "must write an IP address in its plain form, such as 192.0.2.1 or [2001:db8::1]"
	dot      = "must not end its host with a dot"
	private  = "must name a host of the public internet"
	badName  = "must have a valid host name"
	spaces   = "must not contain spaces, line breaks or other control characters; write a space as %20"
	unlisted = "must lead to a host and port that the deployment lists for private receivers"
	ascii    = "must have visible ASCII characters only; write an international host name in its xn-- form, and others as their bytes, such as %C3%A9"
)

func TestPolicy_CheckURL(t *testing.T) {
	t.Parallel()

	label := strings.Repeat("a", 63)
	tests := []struct {
		name, url, want string
		private         string // of a private endpoint, if it is none of below
	}{
		{name: "a plain URL", url: "https://example.com/hooks?a=b", want: fine},
		{name: "no path", url: "https://example.com", want: fine},
		{name: "upper case", url: "HTTPS://Example.COM/Hooks", want: fine},
		{name: "port 443", url: "https://example.com:443/", want: fine},
		{name: "port 8443", url: "https://example.com:8443/", want: fine},
		{name: "port 80", url: "https://example.com:80/", want: fine},
		{name: "port 8080", url: "https://example.com:8080/", want: fine},
		{name: "a public IPv4 address", url: "https://1.1.1.1/", want: fine},
		{name: "a public IPv6 address", url: "https://[2606:4700::1111]:8443/", want: fine},
		{name: "a punycode host", url: "https://xn--bcher-kva.example.com/", want: fine},
		{name: "a punycode domain", url: "https://xn--e1afmkfd.xn--p1ai/", want: fine},
		{name: "an address in front of a public domain", url: "https://127.0.0.1.example.com/", want: fine}, // judged when it is dialed
		{name: "an underscore", url: "https://my_app.example.com/", want: fine},
		{name: "digits in a label that is not the last", url: "https://1.2.3.example.com/", want: fine},
		{name: "a last label that only begins with a digit", url: "https://example.1a", want: fine},
		{name: "an escaped path", url: "https://example.com/a%20b%00", want: fine},
		{name: "an at sign in the path", url: "https://example.com/@me", want: fine},
		{name: "a label of 63", url: "https://" + label + ".com/", want: fine},
		{name: "the longest URL", url: "https://example.com/" + strings.Repeat("a", hook.MaxURL-20), want: fine},

		{name: "nothing", url: "", want: "is missing"},
		{name: "words", url: "not a url", want: badURL},
		{name: "one byte too long", url: "https://example.com/" + strings.Repeat("a", hook.MaxURL-19), want: "must be at most 2048 bytes"},
		{name: "http", url: "http://example.com/", want: scheme},
		{name: "ftp", url: "ftp://example.com/", want: scheme},
		{name: "file", url: "file:///etc/passwd", want: scheme},
		{name: "no scheme", url: "example.com/hooks", want: scheme},
		{name: "no scheme but slashes", url: "//example.com/hooks", want: scheme},
		{name: "a path", url: "/hooks", want: scheme},
		{name: "opaque", url: "https:example.com", want: noHost},
		{name: "no host", url: "https:///hooks", want: noHost},
		{name: "only a port", url: "https://:443/", want: noHost},
		{name: "a user", url: "https://user@example.com/", want: userinfo},
		{name: "a password", url: "https://user:pass@example.com/", want: userinfo},
		{name: "an empty user", url: "https://@example.com/", want: userinfo},
		{name: "a host in the user's place", url: "https://example.com:443@127.0.0.1/", want: userinfo},
		{name: "a user that looks like a host", url: "https://example.com;@127.0.0.1/", want: userinfo},
		{name: "two at signs", url: "https://a:b@c@example.com/", want: userinfo},
		{name: "an escaped at sign", url: "https://example.com%40127.0.0.1/", want: escape},
		{name: "a user in front of a public host", url: "https://127.0.0.1:80@example.com/", want: userinfo},
		{name: "an at sign in the query", url: "https://example.com?@127.0.0.1/", want: fine},
		{name: "too many slashes", url: "https:////127.0.0.1/", want: noHost},
		{name: "one slash", url: "https:/127.0.0.1/", want: noHost},
		{name: "a backslash for a slash", url: `https:\\127.0.0.1/`, want: "must not hold a backslash"},
		{name: "gopher", url: "gopher://127.0.0.1:9001/", want: scheme},
		{name: "a fragment", url: "https://example.com/#a", want: "must not have a fragment, from # on"},
		{name: "an empty fragment", url: "https://example.com/#", want: "must not have a fragment, from # on"},
		{name: "a backslash", url: `https://example.com\@127.0.0.1/`, want: "must not hold a backslash"},
		{name: "a space", url: "https://example.com/a b", want: spaces},
		{name: "a leading space", url: " https://example.com/", want: spaces},
		{name: "a newline", url: "https://example.com/\r\nHost: x", want: spaces},
		{name: "a tab in the scheme", url: "ht\ttps://example.com/", want: spaces},
		{name: "a zero byte", url: "https://example.com/\x00", want: spaces},
		{name: "an international host", url: "https://bücher.example.com/", want: ascii},
		{name: "full-width digits", url: "https://１２７.0.0.1/", want: ascii},
		{name: "an ideographic full stop", url: "https://127。0。0。1/", want: ascii},
		{name: "a full-width full stop", url: "https://127．0．0．1/", want: ascii},
		{name: "a half-width full stop", url: "https://127｡0｡0｡1/", want: ascii},
		{name: "circled digits", url: "https://①②⑦.0.0.1/", want: ascii},
		{name: "mathematical letters", url: "https://𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭/", want: ascii},
		{name: "a soft hyphen", url: "https://local\u00adhost/", want: ascii},
		{name: "a zero-width space", url: "https://127.0.0.1\u200b/", want: ascii},
		{name: "a Kelvin sign", url: "https://\u212aube.example.com/", want: ascii},
		{name: "a full-width solidus", url: "https://example.com／@127.0.0.1/", want: ascii},
		{name: "escaped full-width digits", url: "https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.a/", want: badName},
		{name: "escaped full-width digits before a number", url: "https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/", want: plain},
		{name: "an escaped ideographic full stop", url: "https://127%E3%80%820%E3%80%820%E3%80%821/", want: private, private: badName},
		{name: "an escaped full-width full stop in a name", url: "https://metadata%EF%BC%8Eexample.com/", want: badName},
		{name: "an escaped soft hyphen", url: "https://local%C2%ADhost.com/", want: badName},
		{name: "an escaped dot", url: "https://127%2e0%2e0%2e1/", want: escape},
		{name: "an escaped slash", url: "https://127.0.0.1%2f.example.com/", want: escape},
		{name: "an escaped zero byte in the host", url: "https://127.0.0.1%00.example.com/", want: escape},
		{name: "invalid UTF-8", url: "https://example.com/\xff", want: ascii},
		{name: "an escaped host", url: "https://%6c%6fcalhost/", want: escape},
		{name: "an escaped non-ASCII host", url: "https://ex%C3%A4mple.com/", want: badName},
		{name: "a bad escape", url: "https://example.com/%zz", want: escape},
		{name: "an open bracket", url: "https://[::1/", want: badURL},

		{name: "port 22", url: "https://example.com:22/", want: ports},
		{name: "port 9001", url: "https://example.com:9001/", want: ports},
		{name: "port 0", url: "https://example.com:0/", want: badPort},
		{name: "port 65536", url: "https://example.com:65536/", want: badPort},
		{name: "a port with a leading zero", url: "https://example.com:0443/", want: badPort},
		{name: "a colon without a port", url: "https://example.com:/", want: badPort},
		{name: "a port that is no number", url: "https://example.com:https/", want: badURL},
		{name: "a negative port", url: "https://example.com:-443/", want: badURL},

		{name: "loopback", url: "https://127.0.0.1/", want: reserved},
		{name: "the runtime API at a link-local address", url: "https://169.254.100.1:9001/2018-06-01/runtime/invocation/next", want: reserved},
		{name: "container credentials", url: "https://169.254.170.2/v2/credentials", want: reserved},
		{name: "loopback elsewhere in its block", url: "https://127.8.9.10/", want: reserved},
		{name: "instance metadata", url: "https://169.254.169.254/latest/meta-data/", want: reserved},
		{name: "a private address", url: "https://10.0.0.1/", want: reserved},
		{name: "the unspecified address", url: "https://0.0.0.0/", want: reserved},
		{name: "the runtime API", url: "https://127.0.0.1:9001/2018-06-01/runtime/invocation/next", want: reserved, private: reserved},
		{name: "IPv6 loopback", url: "https://[::1]/", want: reserved},
		{name: "IPv6 loopback in full", url: "https://[0:0:0:0:0:0:0:1]/", want: reserved},
		{name: "a mapped address", url: "https://[::ffff:127.0.0.1]/", want: reserved},
		{name: "a mapped address in hex", url: "https://[::ffff:7f00:1]/", want: reserved},
		{name: "a NAT64 address", url: "https://[64:ff9b::7f00:1]/", want: reserved},
		{name: "a mapped address in full", url: "https://[0:0:0:0:0:ffff:169.254.169.254]/", want: reserved},
		{name: "a mapped address in hex, metadata", url: "https://[::ffff:a9fe:a9fe]/", want: reserved},
		{name: "a mapped public address", url: "https://[::ffff:1.1.1.1]/", want: reserved},
		{name: "a compatible address", url: "https://[::a9fe:a9fe]/", want: reserved},
		{name: "a translated address", url: "https://[::ffff:0:a9fe:a9fe]/", want: reserved},
		{name: "a local NAT64 address", url: "https://[64:ff9b:1::a9fe:a9fe]/", want: reserved},
		{name: "a 6to4 address", url: "https://[2002:a9fe:a9fe::1]/", want: reserved},
		{name: "a Teredo address", url: "https://[2001:0:a9fe:a9fe::1]/", want: reserved},
		{name: "the unspecified IPv6 address", url: "https://[::]/", want: reserved},
		{name: "a unique local address", url: "https://[fd00:ec2::254]/", want: reserved},
		{name: "a zone", url: "https://[fe80::1%25eth0]/", want: reserved},
		{name: "a zone on a public address", url: "https://[2606:4700::1111%25eth0]/", want: reserved},
		{name: "a public address on a closed port", url: "https://1.1.1.1:22/", want: ports},

		{name: "decimal", url: "https://2130706433/", want: plain},
		{name: "octal", url: "https://0177.0.0.1/", want: plain},
		{name: "octal in one number", url: "https://017700000001/", want: plain},
		{name: "hexadecimal", url: "https://0x7f.0.0.1/", want: plain},
		{name: "hexadecimal in the last part", url: "https://127.0.0.0x1/", want: plain},
		{name: "hexadecimal in upper case", url: "https://0X7F000001/", want: plain},
		{name: "an empty hexadecimal number", url: "https://127.0.0.0x/", want: plain},
		{name: "two parts", url: "https://127.1/", want: plain},
		{name: "three parts", url: "https://127.0.1/", want: plain},
		{name: "five parts", url: "https://127.0.0.0.1/", want: plain},
		{name: "leading zeros", url: "https://127.0.0.01/", want: plain},
		{name: "a part past 255", url: "https://1.1.1.256/", want: plain},
		{name: "a number as the last label", url: "https://example.com.123/", want: plain},
		{name: "zero", url: "https://0/", want: plain},
		{name: "metadata as a number", url: "https://2852039166/latest/meta-data/", want: plain},
		{name: "metadata as a number with a port", url: "https://2852039166:80/", want: plain},
		{name: "metadata in hexadecimal", url: "https://0xA9FEA9FE/", want: plain},
		{name: "metadata in octal", url: "https://0251.0376.0251.0376/", want: plain},
		{name: "metadata in octal with zeros", url: "https://00000251.0376.0251.0376/", want: plain},
		{name: "metadata in three parts", url: "https://169.254.43518/", want: plain},
		{name: "metadata in mixed bases", url: "https://0xa9.0376.43518/", want: plain},
		{name: "the largest number", url: "https://4294967295/", want: plain},
		{name: "a number past 32 bits", url: "https://4294967297/", want: plain},
		{name: "a number past 64 bits", url: "https://18446744073709551617/", want: plain},
		{name: "no octal digit", url: "https://08.0.0.1/", want: plain},
		{name: "empty hexadecimal numbers", url: "https://0x.0x.0x.0x/", want: plain},
		{name: "loopback in IPv6 without brackets", url: "https://::1/", want: badURL},
		{name: "an address of the future in brackets", url: "https://[v1.fe80::a]/", want: badURL},
		{name: "brackets inside brackets", url: "https://[[::1]]/", want: badURL},
		{name: "text after the brackets", url: "https://[::1].example.com/", want: badURL},
		{name: "a name in brackets", url: "https://[example.com]/", want: badURL},
		{name: "an IPv4 address in brackets", url: "https://[127.0.0.1]/", want: badURL},
		{name: "an address with a trailing dot", url: "https://127.0.0.1./", want: dot},
		{name: "metadata with a trailing dot and a port", url: "https://169.254.169.254.:80/", want: dot},
		{name: "a number with a trailing dot", url: "https://2130706433./", want: dot},
		{name: "a hexadecimal number with a trailing dot", url: "https://0x7f000001./", want: dot},
		{name: "two trailing dots", url: "https://example.com../", want: dot},
		{name: "only a dot", url: "https://./", want: dot},
		{name: "internal with a trailing dot", url: "https://metadata.google.internal./", want: dot},
		{name: "short and with a trailing dot", url: "https://127.1./", want: dot},

		{name: "localhost", url: "https://localhost/", want: reserved},
		{name: "localhost in upper case", url: "https://LOCALHOST/", want: reserved},
		{name: "a name under localhost", url: "https://app.localhost/", want: reserved},
		{name: "localhost with a trailing dot", url: "https://localhost./", want: dot},
		{name: "a name that only ends like localhost", url: "https://notlocalhost.com/", want: fine},
		{name: "a single label", url: "https://intranet/", want: private, private: badName},
		{name: "internal", url: "https://metadata.google.internal/", want: private},
		{name: "internal in upper case", url: "https://db.INTERNAL/", want: private},
		{name: "mDNS", url: "https://printer.local/", want: private},
		{name: "a name that only ends like internal", url: "https://notinternal.com/", want: fine},
		{name: "a trailing dot", url: "https://example.com./", want: dot},
		{name: "a leading dot", url: "https://.example.com/", want: badName},
		{name: "an empty label", url: "https://example..com/", want: badName},
		{name: "a leading hyphen", url: "https://-a.example.com/", want: badName},
		{name: "a trailing hyphen", url: "https://a-.example.com/", want: badName},
		{name: "a strange character", url: "https://ex!ample.com/", want: badName},
		{name: "a label of 64", url: "https://" + label + "a.com/", want: badName},
		{name: "a host of 253", url: "https://" + strings.Repeat(label+".", 3) + strings.Repeat("a", 57) + ".com/", want: fine},
		{name: "a host of 254", url: "https://" + strings.Repeat(label+".", 3) + strings.Repeat("a", 58) + ".com/", want: badName},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := (egress.Policy{}).CheckURL(tt.url); got != tt.want {
				t.Errorf("CheckURL(%q) = %q; want %q", tt.url, got, tt.want)
			}
			listed := tt.private
			switch {
			case listed != "":
			case tt.want == fine, tt.want == ports, tt.want == reserved, tt.want == private:
				listed = unlisted
			default:
				listed = tt.want // wrong forms are wrong for every endpoint
			}
			for _, p := range []egress.Policy{inside(t), {Loopback: true, Host: container, Private: inside(t).Private}} {
				if got := p.CheckURL(tt.url); got != listed && (!p.Loopback || tt.want != scheme) {
					t.Errorf("CheckURL(%q) of a private endpoint = %q; want %q", tt.url, got, listed)
				}
			}
		})
	}
}

func TestPolicy_CheckURL_loopback(t *testing.T) {
	t.Parallel()

	policy := egress.Policy{Loopback: true, RuntimeAPI: netip.MustParseAddrPort("127.0.0.1:41000")}
	tests := []struct {
		name, url, want string
	}{
		{name: "http to loopback", url: "http://127.0.0.1:39123/hooks", want: fine},
		{name: "https to loopback", url: "https://127.0.0.1:39123/hooks", want: fine},
		{name: "http to IPv6 loopback", url: "http://[::1]:39123/", want: fine},
		{name: "http to localhost", url: "http://localhost:8000/", want: fine},
		{name: "http to a name under localhost", url: "http://app.localhost:8000/", want: fine},
		{name: "http to a public name", url: "http://example.com/", want: fine},
		{name: "a public name on another port", url: "http://example.com:8000/", want: ports},
		{name: "a colon without a port", url: "http://localhost:/", want: badPort},
		{name: "ftp", url: "ftp://localhost/", want: scheme},
		{name: "a user", url: "http://user@localhost/", want: userinfo},
		{name: "the usual runtime API", url: "http://127.0.0.1:9001/", want: reserved},
		{name: "the usual runtime API by name", url: "http://localhost:9001/", want: reserved},
		{name: "an emulator's runtime API", url: "http://localhost:41000/", want: reserved},
		{name: "a private address", url: "http://192.168.0.1/", want: reserved},
		{name: "instance metadata", url: "http://169.254.169.254/", want: reserved},
		{name: "loopback in a short form", url: "http://127.1:8000/", want: plain},
		{name: "loopback in the mapped form", url: "http://[::ffff:127.0.0.1]:8000/", want: reserved},
		{name: "a single label", url: "http://receiver:8000/", want: private},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := policy.CheckURL(tt.url); got != tt.want {
				t.Errorf("CheckURL(%q) = %q; want %q", tt.url, got, tt.want)
			}
		})
	}
}

func FuzzPolicy_CheckURL(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/", "https://127.0.0.1/", "https://0x7f.1/", "https://[::1%25lo]/", "https://a@b/", `https://a\b`,
		"https://1.1.1.1:8443/?q", "https://2130706433/", "https://localhost./", "http://[64:ff9b::1]:80/", "https://a.b:0443", "https:\\\\a.b",
	} {
		f.Add(seed)
	}
	numeric := regexp.MustCompile(`(?i)^(\d+|0x[\da-f]*)$`)

	f.Fuzz(func(t *testing.T, raw string) {
		if (egress.Policy{Loopback: true}).CheckURL(raw) != "" && (egress.Policy{}).CheckURL(raw) == "" {
			t.Errorf("CheckURL(%q) is accepted by the strict policy, but refused by the policy with loopback", raw)
		}
		if (egress.Policy{}).CheckURL(raw) != "" {
			return
		}
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Fragment != "" {
			t.Fatalf("CheckURL(%q) accepts %v, %v; want https without user and fragment", raw, u, err)
		}
		host := u.Hostname()
		if ip, err := netip.ParseAddr(host); err == nil {
			if v := (egress.Policy{}).Judge(netip.AddrPortFrom(ip, 443)); v != egress.VerdictAllowed {
				t.Errorf("CheckURL(%q) accepts %s with verdict %s", raw, ip, v)
			}
			return
		}
		labels := strings.Split(host, ".")
		if len(labels) < 2 || numeric.MatchString(labels[len(labels)-1]) || labels[len(labels)-1] == "" {
			t.Errorf("CheckURL(%q) accepts the host %q", raw, host)
		}
	})
}

// A delivery to Surehook's own API could post another event, whose delivery posts the next one, and
// so on.
func TestPolicy_CheckURL_ownAPI(t *testing.T) {
	t.Parallel()

	const own = "must not lead to the API of Surehook itself"
	deployed := egress.Policy{Own: []string{"a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com", "Hooks.Example.com"}}
	local := egress.Policy{Loopback: true, Own: []string{"127.0.0.1:8080", "localhost:8080"}}
	tests := []struct {
		name   string
		policy egress.Policy
		url    string
		want   string
	}{
		{name: "the name from AWS", policy: deployed, url: "https://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com/v1/tenants/acme/events", want: own},
		{name: "the custom domain", policy: deployed, url: "https://hooks.example.com/", want: own},
		{name: "in upper case", policy: deployed, url: "https://HOOKS.EXAMPLE.COM/", want: own},
		{name: "with a port", policy: deployed, url: "https://hooks.example.com:443/", want: own},
		{name: "another API", policy: deployed, url: "https://f6g7h8i9j0.execute-api.eu-west-1.amazonaws.com/", want: fine},
		{name: "a domain below", policy: deployed, url: "https://a.hooks.example.com/", want: fine},
		{name: "a domain above", policy: deployed, url: "https://example.com/", want: fine},
		{name: "a trailing dot", policy: deployed, url: "https://hooks.example.com./", want: dot},
		{name: "a local address", policy: local, url: "http://127.0.0.1:8080/", want: own},
		{name: "a local name", policy: local, url: "http://localhost:8080/", want: own},
		{name: "another local port", policy: local, url: "http://127.0.0.1:3000/", want: fine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.policy.CheckURL(tt.url); got != tt.want {
				t.Errorf("CheckURL(%s) = %q; want %q", tt.url, got, tt.want)
			}
		})
	}
}
