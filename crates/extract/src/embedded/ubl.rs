//! Invoices and credit notes of UBL 2 (XRechnung, Peppol).

use super::tree::Node;
use super::{Found, MAX_ITEMS, before_others, in_currency, value};

pub(super) fn invoice(root: Node<'_>) -> Found {
    let mut found = Found::default();
    found.put("invoice_number", [root.said("ID")], value::line);
    found.put("invoice_date", [root.said("IssueDate")], value::date);
    found.put(
        "due_date",
        [
            root.said("DueDate"),
            root.said("PaymentMeans/PaymentDueDate"),
            root.said("PaymentTerms/PaymentDueDate"),
        ],
        value::date,
    );
    if let Some(party) = root.find("AccountingSupplierParty/Party") {
        put_party(&mut found, "seller", party);
    }
    if let Some(party) = root.find("AccountingCustomerParty/Party") {
        put_party(&mut found, "buyer", party);
    }
    found.put("order_number", [root.said("OrderReference/ID")], value::line);
    let account = "PaymentMeans/PayeeFinancialAccount";
    found.put("iban", [root.said(&format!("{account}/ID"))], value::iban);
    let branch = format!("{account}/FinancialInstitutionBranch");
    found.put(
        "bic",
        [root.said(&format!("{branch}/ID")), root.said(&format!("{branch}/FinancialInstitution/ID"))],
        value::line,
    );
    let currency = root.said("DocumentCurrencyCode");
    found.put("currency", [currency], value::line);
    let currency = currency.map(Node::text);
    let taxes = root.all("TaxTotal").filter_map(|tax| tax.said("TaxAmount"));
    found.put("tax_total", [in_currency(taxes, currency)], value::number);
    if let Some(sums) = root.find("LegalMonetaryTotal") {
        found.put("tax_basis_total", [sums.said("TaxExclusiveAmount")], value::number);
        found.put(
            "total_amount",
            [sums.said("TaxInclusiveAmount"), sums.said("PayableAmount")],
            value::number,
        );
    }
    let lines = root.children().filter(|node| matches!(node.name(), "InvoiceLine" | "CreditNoteLine"));
    for line in lines.take(MAX_ITEMS) {
        found.add_item(item(line));
    }
    found
}

fn put_party(found: &mut Found, who: &str, party: Node<'_>) {
    // The registered name is who owes and is owed; the other is what stands on the door.
    found.put(
        &format!("{who}_name"),
        [party.said("PartyLegalEntity/RegistrationName"), party.said("PartyName/Name")],
        value::line,
    );
    if let Some(address) = party.find("PostalAddress") {
        let one = |name: &str| vec![address.said(name)];
        found.put_address(
            &format!("{who}_address"),
            &[
                vec![address.said("StreetName"), address.said("BuildingNumber")],
                one("AdditionalStreetName"),
                one("AddressLine/Line"),
                vec![address.said("PostalZone"), address.said("CityName")],
                one("CountrySubentity"),
                one("Country/IdentificationCode"),
            ],
        );
    }
    let numbers = party.all("PartyTaxScheme").filter_map(|tax| tax.said("CompanyID"));
    let number = before_others(numbers, |id| {
        id.parent().and_then(|tax| tax.said("TaxScheme/ID")).is_some_and(|scheme| scheme.text() == "VAT")
    });
    found.put(&format!("{who}_tax_id"), [number], value::line);
}

fn item(line: Node<'_>) -> Found {
    let mut found = Found::default();
    found.put("description", [line.said("Item/Name"), line.said("Item/Description")], value::line);
    found.put(
        "quantity",
        [line.said("InvoicedQuantity"), line.said("CreditedQuantity")],
        value::short_number,
    );
    if let Some(price) = line.find("Price") {
        let basis = price.said("BaseQuantity").map_or("1", Node::text);
        found.put("unit_price", [price.said("PriceAmount")], |text| value::price_of_one(text, basis));
    }
    found.put("tax_rate", [line.said("Item/ClassifiedTaxCategory/Percent")], value::short_number);
    found.put("net_amount", [line.said("LineExtensionAmount")], value::number);
    found
}
