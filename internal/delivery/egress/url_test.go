package egress_test

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"surehook/internal/delivery/egress"
	"surehook/internal/hook"
)

// What CheckURL says, by what it says it of.
const (
	fine     = ""
	scheme   = "must begin with https://"
	userinfo = "must not hold a user name or password"
	noHost   = "must name a host"
	badURL   = "is not a valid URL"
	badPort  = "must have a valid port or none"
	ports    = "must use port 443, 8443, 80 or 8080"
	reserved = "must not lead to a private, loopback or otherwise reserved address"
	plain    = "must write an IP address in its plain form, such as 192.0.2.1 or [2001:db8::1]"
	dot      = "must not end its host with a dot"
	private  = "must name a host of the public internet"
	badName  = "must have a valid host name"
	ascii    = "must hold visible ASCII characters only, an international host name in its xn-- form"
)

func TestPolicy_CheckURL(t *testing.T) {
	t.Parallel()

	label := strings.Repeat("a", 63)
	tests := []struct {
		name, url, want string
	}{
		{"a plain URL", "https://example.com/hooks?a=b", fine},
		{"no path", "https://example.com", fine},
		{"upper case", "HTTPS://Example.COM/Hooks", fine},
		{"port 443", "https://example.com:443/", fine},
		{"port 8443", "https://example.com:8443/", fine},
		{"port 80", "https://example.com:80/", fine},
		{"port 8080", "https://example.com:8080/", fine},
		{"a public IPv4 address", "https://1.1.1.1/", fine},
		{"a public IPv6 address", "https://[2606:4700::1111]:8443/", fine},
		{"a punycode host", "https://xn--bcher-kva.example.com/", fine},
		{"a punycode domain", "https://xn--e1afmkfd.xn--p1ai/", fine},
		{"an address in front of a public domain", "https://127.0.0.1.example.com/", fine}, // judged when it is dialed
		{"an underscore", "https://my_app.example.com/", fine},
		{"digits in a label that is not the last", "https://1.2.3.example.com/", fine},
		{"a last label that only begins with a digit", "https://example.1a", fine},
		{"an escaped path", "https://example.com/a%20b%00", fine},
		{"an at sign in the path", "https://example.com/@me", fine},
		{"a label of 63", "https://" + label + ".com/", fine},
		{"the longest URL", "https://example.com/" + strings.Repeat("a", hook.MaxURL-20), fine},

		{"nothing", "", "is missing"},
		{"one byte too long", "https://example.com/" + strings.Repeat("a", hook.MaxURL-19), "must be at most 2048 bytes"},
		{"http", "http://example.com/", scheme},
		{"ftp", "ftp://example.com/", scheme},
		{"file", "file:///etc/passwd", scheme},
		{"no scheme", "example.com/hooks", scheme},
		{"no scheme but slashes", "//example.com/hooks", scheme},
		{"a path", "/hooks", scheme},
		{"opaque", "https:example.com", noHost},
		{"no host", "https:///hooks", noHost},
		{"only a port", "https://:443/", noHost},
		{"a user", "https://user@example.com/", userinfo},
		{"a password", "https://user:pass@example.com/", userinfo},
		{"an empty user", "https://@example.com/", userinfo},
		{"a host in the user's place", "https://example.com:443@127.0.0.1/", userinfo},
		{"a user that looks like a host", "https://example.com;@127.0.0.1/", userinfo},
		{"two at signs", "https://a:b@c@example.com/", userinfo},
		{"an escaped at sign", "https://example.com%40127.0.0.1/", badURL},
		{"a user in front of a public host", "https://127.0.0.1:80@example.com/", userinfo},
		{"an at sign in the query", "https://example.com?@127.0.0.1/", fine},
		{"too many slashes", "https:////127.0.0.1/", noHost},
		{"one slash", "https:/127.0.0.1/", noHost},
		{"a backslash for a slash", `https:\\127.0.0.1/`, "must not hold a backslash"},
		{"gopher", "gopher://127.0.0.1:9001/", scheme},
		{"a fragment", "https://example.com/#a", "must not have a fragment"},
		{"an empty fragment", "https://example.com/#", "must not have a fragment"},
		{"a backslash", `https://example.com\@127.0.0.1/`, "must not hold a backslash"},
		{"a space", "https://example.com/a b", ascii},
		{"a leading space", " https://example.com/", ascii},
		{"a newline", "https://example.com/\r\nHost: x", ascii},
		{"a tab in the scheme", "ht\ttps://example.com/", ascii},
		{"a zero byte", "https://example.com/\x00", ascii},
		{"an international host", "https://bücher.example.com/", ascii},
		{"full-width digits", "https://１２７.0.0.1/", ascii},
		{"an ideographic full stop", "https://127。0。0。1/", ascii},
		{"a full-width full stop", "https://127．0．0．1/", ascii},
		{"a half-width full stop", "https://127｡0｡0｡1/", ascii},
		{"circled digits", "https://①②⑦.0.0.1/", ascii},
		{"mathematical letters", "https://𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭/", ascii},
		{"a soft hyphen", "https://local\u00adhost/", ascii},
		{"a zero-width space", "https://127.0.0.1\u200b/", ascii},
		{"a Kelvin sign", "https://\u212aube.example.com/", ascii},
		{"a full-width solidus", "https://example.com／@127.0.0.1/", ascii},
		{"escaped full-width digits", "https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.a/", badName},
		{"escaped full-width digits before a number", "https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/", plain},
		{"an escaped ideographic full stop", "https://127%E3%80%820%E3%80%820%E3%80%821/", private},
		{"an escaped full-width full stop in a name", "https://metadata%EF%BC%8Eexample.com/", badName},
		{"an escaped soft hyphen", "https://local%C2%ADhost.com/", badName},
		{"an escaped dot", "https://127%2e0%2e0%2e1/", badURL},
		{"an escaped slash", "https://127.0.0.1%2f.example.com/", badURL},
		{"an escaped zero byte in the host", "https://127.0.0.1%00.example.com/", badURL},
		{"invalid UTF-8", "https://example.com/\xff", ascii},
		{"an escaped host", "https://%6c%6fcalhost/", badURL},
		{"an escaped non-ASCII host", "https://ex%C3%A4mple.com/", badName},
		{"a bad escape", "https://example.com/%zz", badURL},
		{"an open bracket", "https://[::1/", badURL},

		{"port 22", "https://example.com:22/", ports},
		{"port 9001", "https://example.com:9001/", ports},
		{"port 0", "https://example.com:0/", badPort},
		{"port 65536", "https://example.com:65536/", badPort},
		{"a port with a leading zero", "https://example.com:0443/", badPort},
		{"a colon without a port", "https://example.com:/", badPort},
		{"a port that is no number", "https://example.com:https/", badURL},
		{"a negative port", "https://example.com:-443/", badURL},

		{"loopback", "https://127.0.0.1/", reserved},
		{"the runtime API at a link-local address", "https://169.254.100.1:9001/2018-06-01/runtime/invocation/next", reserved},
		{"container credentials", "https://169.254.170.2/v2/credentials", reserved},
		{"loopback elsewhere in its block", "https://127.8.9.10/", reserved},
		{"instance metadata", "https://169.254.169.254/latest/meta-data/", reserved},
		{"a private address", "https://10.0.0.1/", reserved},
		{"the unspecified address", "https://0.0.0.0/", reserved},
		{"the runtime API", "https://127.0.0.1:9001/2018-06-01/runtime/invocation/next", reserved},
		{"IPv6 loopback", "https://[::1]/", reserved},
		{"IPv6 loopback in full", "https://[0:0:0:0:0:0:0:1]/", reserved},
		{"a mapped address", "https://[::ffff:127.0.0.1]/", reserved},
		{"a mapped address in hex", "https://[::ffff:7f00:1]/", reserved},
		{"a NAT64 address", "https://[64:ff9b::7f00:1]/", reserved},
		{"a mapped address in full", "https://[0:0:0:0:0:ffff:169.254.169.254]/", reserved},
		{"a mapped address in hex, metadata", "https://[::ffff:a9fe:a9fe]/", reserved},
		{"a mapped public address", "https://[::ffff:1.1.1.1]/", reserved},
		{"a compatible address", "https://[::a9fe:a9fe]/", reserved},
		{"a translated address", "https://[::ffff:0:a9fe:a9fe]/", reserved},
		{"a local NAT64 address", "https://[64:ff9b:1::a9fe:a9fe]/", reserved},
		{"a 6to4 address", "https://[2002:a9fe:a9fe::1]/", reserved},
		{"a Teredo address", "https://[2001:0:a9fe:a9fe::1]/", reserved},
		{"the unspecified IPv6 address", "https://[::]/", reserved},
		{"a unique local address", "https://[fd00:ec2::254]/", reserved},
		{"a zone", "https://[fe80::1%25eth0]/", reserved},
		{"a zone on a public address", "https://[2606:4700::1111%25eth0]/", reserved},
		{"a public address on a closed port", "https://1.1.1.1:22/", ports},

		{"decimal", "https://2130706433/", plain},
		{"octal", "https://0177.0.0.1/", plain},
		{"octal in one number", "https://017700000001/", plain},
		{"hexadecimal", "https://0x7f.0.0.1/", plain},
		{"hexadecimal in the last part", "https://127.0.0.0x1/", plain},
		{"hexadecimal in upper case", "https://0X7F000001/", plain},
		{"an empty hexadecimal number", "https://127.0.0.0x/", plain},
		{"two parts", "https://127.1/", plain},
		{"three parts", "https://127.0.1/", plain},
		{"five parts", "https://127.0.0.0.1/", plain},
		{"leading zeros", "https://127.0.0.01/", plain},
		{"a part past 255", "https://1.1.1.256/", plain},
		{"a number as the last label", "https://example.com.123/", plain},
		{"zero", "https://0/", plain},
		{"metadata as a number", "https://2852039166/latest/meta-data/", plain},
		{"metadata as a number with a port", "https://2852039166:80/", plain},
		{"metadata in hexadecimal", "https://0xA9FEA9FE/", plain},
		{"metadata in octal", "https://0251.0376.0251.0376/", plain},
		{"metadata in octal with zeros", "https://00000251.0376.0251.0376/", plain},
		{"metadata in three parts", "https://169.254.43518/", plain},
		{"metadata in mixed bases", "https://0xa9.0376.43518/", plain},
		{"the largest number", "https://4294967295/", plain},
		{"a number past 32 bits", "https://4294967297/", plain},
		{"a number past 64 bits", "https://18446744073709551617/", plain},
		{"no octal digit", "https://08.0.0.1/", plain},
		{"empty hexadecimal numbers", "https://0x.0x.0x.0x/", plain},
		{"loopback in IPv6 without brackets", "https://::1/", badURL},
		{"an address of the future in brackets", "https://[v1.fe80::a]/", badURL},
		{"brackets inside brackets", "https://[[::1]]/", badURL},
		{"text after the brackets", "https://[::1].example.com/", badURL},
		{"a name in brackets", "https://[example.com]/", badURL},
		{"an IPv4 address in brackets", "https://[127.0.0.1]/", badURL},
		{"an address with a trailing dot", "https://127.0.0.1./", dot},
		{"metadata with a trailing dot and a port", "https://169.254.169.254.:80/", dot},
		{"a number with a trailing dot", "https://2130706433./", dot},
		{"a hexadecimal number with a trailing dot", "https://0x7f000001./", dot},
		{"two trailing dots", "https://example.com../", dot},
		{"only a dot", "https://./", dot},
		{"internal with a trailing dot", "https://metadata.google.internal./", dot},
		{"short and with a trailing dot", "https://127.1./", dot},

		{"localhost", "https://localhost/", reserved},
		{"localhost in upper case", "https://LOCALHOST/", reserved},
		{"a name under localhost", "https://app.localhost/", reserved},
		{"localhost with a trailing dot", "https://localhost./", dot},
		{"a name that only ends like localhost", "https://notlocalhost.com/", fine},
		{"a single label", "https://intranet/", private},
		{"internal", "https://metadata.google.internal/", private},
		{"internal in upper case", "https://db.INTERNAL/", private},
		{"mDNS", "https://printer.local/", private},
		{"a name that only ends like internal", "https://notinternal.com/", fine},
		{"a trailing dot", "https://example.com./", dot},
		{"a leading dot", "https://.example.com/", badName},
		{"an empty label", "https://example..com/", badName},
		{"a leading hyphen", "https://-a.example.com/", badName},
		{"a trailing hyphen", "https://a-.example.com/", badName},
		{"a strange character", "https://ex!ample.com/", badName},
		{"a label of 64", "https://" + label + "a.com/", badName},
		{"a host of 253", "https://" + strings.Repeat(label+".", 3) + strings.Repeat("a", 57) + ".com/", fine},
		{"a host of 254", "https://" + strings.Repeat(label+".", 3) + strings.Repeat("a", 58) + ".com/", badName},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := (egress.Policy{}).CheckURL(tt.url); got != tt.want {
				t.Errorf("CheckURL(%q) = %q; want %q", tt.url, got, tt.want)
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
		{"http to loopback", "http://127.0.0.1:39123/hooks", fine},
		{"https to loopback", "https://127.0.0.1:39123/hooks", fine},
		{"http to IPv6 loopback", "http://[::1]:39123/", fine},
		{"http to localhost", "http://localhost:8000/", fine},
		{"http to a name under localhost", "http://app.localhost:8000/", fine},
		{"http to a public name", "http://example.com/", fine},
		{"a public name on another port", "http://example.com:8000/", ports},
		{"a colon without a port", "http://localhost:/", badPort},
		{"ftp", "ftp://localhost/", scheme},
		{"a user", "http://user@localhost/", userinfo},
		{"the usual runtime API", "http://127.0.0.1:9001/", reserved},
		{"the usual runtime API by name", "http://localhost:9001/", reserved},
		{"an emulator's runtime API", "http://localhost:41000/", reserved},
		{"a private address", "http://192.168.0.1/", reserved},
		{"instance metadata", "http://169.254.169.254/", reserved},
		{"loopback in a short form", "http://127.1:8000/", plain},
		{"loopback in the mapped form", "http://[::ffff:127.0.0.1]:8000/", reserved},
		{"a single label", "http://receiver:8000/", private},
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
			t.Errorf("CheckURL(%q) accepts under the strict policy what it refuses under the loose one", raw)
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
				t.Errorf("CheckURL(%q) accepts %s, which is judged %s", raw, ip, v)
			}
			return
		}
		labels := strings.Split(host, ".")
		if len(labels) < 2 || numeric.MatchString(labels[len(labels)-1]) || labels[len(labels)-1] == "" {
			t.Errorf("CheckURL(%q) accepts the host %q", raw, host)
		}
	})
}
