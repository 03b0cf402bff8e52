package names

import (
	"net"
	"net/url"
	"regexp"
	"strings"
)

// Portal is the appearance of the tenants' portal. The zero Portal has Surehook's appearance, and no
// other page may embed the portal.
type Portal struct {
	Name      string   // a short title, shown in place of "Webhooks"
	Accent    string   // a color, "#" and six hexadecimal digits
	Logo      string   // in place of Surehook's mark: an https URL, or a data URL of a PNG, JPEG, WebP or SVG image in base64, of 900 bytes at most
	Embedders []string // origins whose pages may show the portal in a frame and get its messages, such as https://app.example.com
}

// ValidAccent reports whether the text is a color: "#" and six hexadecimal digits.
func ValidAccent(text string) bool { return accent.MatchString(text) }

var accent = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// maxLogo is the most bytes of a logo's text: the variables of a function have 4 KiB together.
const maxLogo = 900

// ValidLogo reports whether the text is the address of an image: an https URL without a user,
// or a data URL of a PNG, JPEG, WebP or SVG image in base64; at most 900 bytes.
func ValidLogo(text string) bool {
	return len(text) <= maxLogo && (logoData.MatchString(text) || LogoOrigin(text) != "")
}

// LogoOrigin returns the origin of a logo with an https URL; "" for all other texts.
func LogoOrigin(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil || strings.HasPrefix(u.Host, "*") || !ValidOrigin("https://"+u.Host) {
		return ""
	}
	return "https://" + u.Host
}

var logoData = regexp.MustCompile(`^data:image/(png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$`)

// ValidOrigin reports whether the text is an origin for Content-Security-Policy: https, a
// host and perhaps a port, or http with a loopback host.
func ValidOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || text != u.Scheme+"://"+u.Host || !host.MatchString(u.Host) {
		return false
	}
	loopback := u.Hostname() == "localhost"
	if ip := net.ParseIP(u.Hostname()); ip != nil {
		loopback = ip.IsLoopback()
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

// host holds no separator of Content-Security-Policy. A first label * permits all subdomains.
var host = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)
