# A server on Perl's JSON::PP: each line of its input as it reads it. See parsers.mjs for the form of its output.
use strict;
use warnings;
use B ();
use Encode ();
use JSON::PP ();

sub hex_of { return unpack "H*", Encode::encode("UTF-8", $_[0]) }

sub spell {
    my ($value) = @_;
    return "-" if !defined $value || ref $value;
    return "n$value" if B::svref_2object(\$value)->FLAGS & (B::SVp_IOK | B::SVp_NOK);
    return "t" . hex_of($value);
}

sub names_of {
    my ($value) = @_;
    return map { (hex_of($_), names_of($value->{$_})) } keys %$value if ref $value eq "HASH";
    return map { names_of($_) } @$value if ref $value eq "ARRAY";
    return ();
}

my $json = JSON::PP->new->utf8;
while (my $line = <STDIN>) {
    my $message = eval { $json->decode($line) };
    if (ref $message ne "HASH") {
        print "error\n";
        next;
    }
    my $params = ref $message->{params} eq "HASH" ? $message->{params} : {};
    my @fields = (spell($message->{method}), spell($message->{id}), spell($params->{name}));
    print join(" ", @fields, join(",", sort(names_of($params->{arguments})))), "\n";
}
