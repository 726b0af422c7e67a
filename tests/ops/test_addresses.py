"""What is printed as the address, and which hosts are answered to."""

from chatapp import addresses


def test_address_of_a_loopback_host_is_itself():
    assert addresses.addresses("127.0.0.1", 8000) == ["http://127.0.0.1:8000/"]


def test_address_of_everywhere_is_one_that_can_be_opened():
    first, *others = addresses.addresses("0.0.0.0", 8000)
    assert first == "http://127.0.0.1:8000/"
    assert not any("0.0.0.0" in other for other in others)


def test_address_of_an_ipv6_host_is_bracketed():
    assert addresses.addresses("::1", 80) == ["http://[::1]:80/"]


def test_hosts_answered_to_never_include_a_wildcard():
    assert not {"*", "0.0.0.0", "::"} & set(addresses.own_names("0.0.0.0"))
